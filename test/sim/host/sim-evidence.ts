import {
  isBeneath,
  joinPath,
  type MountIdentity,
  relativePath,
  sameFilesystem,
} from "../../../src/host/mount-table/mount-table.ts";
import type { Blocker, InNamespace } from "../../../src/host/ports/evidence.ts";
import type { Evidence, Holder } from "../../../src/host/ports/host-ports.ts";
import type { ChildProcessID } from "../../../src/host/ports/types.ts";
import { openPath } from "../kernel/lookup.ts";
import type { Mount, Namespace } from "../kernel/mount.ts";
import { type HostDeps, latency } from "./host-deps.ts";

/** What /proc of the machine says. */
export class SimEvidence implements Evidence {
  readonly #deps: HostDeps;

  constructor(deps: HostDeps) {
    this.#deps = deps;
  }

  holders(identity: MountIdentity): Promise<readonly Holder[]> {
    return this.#deps.incarnation.look(latency.call, () => {
      const { kernel } = this.#deps.machine;
      const seen = new Set<Namespace>();
      const holders: Holder[] = [];
      for (const { pid, command, namespace } of kernel.processes.all()) {
        if (seen.has(namespace)) continue;
        seen.add(namespace);
        const mount = kernel
          .table(namespace)
          .find((entry) => sameFilesystem(entry, identity) && isBeneath(entry.root, identity.root));
        if (mount !== undefined) holders.push({ ...this.#member(pid, command, namespace), mountPoint: mount.point });
      }
      return holders;
    });
  }

  mountedOn(place: MountIdentity): Promise<readonly Holder[]> {
    return this.#deps.incarnation.look(latency.call, () => {
      const { kernel } = this.#deps.machine;
      const seen = new Set<Namespace>();
      const holders: Holder[] = [];
      for (const { pid, command, namespace } of kernel.processes.all()) {
        if (seen.has(namespace)) continue;
        seen.add(namespace);
        const mounts = kernel.table(namespace);
        const shown = mounts.find(({ point, parent }) => {
          const above = mounts.find((mount) => mount.id === parent);
          if (above === undefined || !sameFilesystem(above, place) || !isBeneath(place.root, above.root)) return false;
          return point === joinPath(above.point, relativePath(above.root, place.root));
        });
        if (shown !== undefined) holders.push({ ...this.#member(pid, command, namespace), mountPoint: shown.point });
      }
      return holders;
    });
  }

  members(namespaces: readonly InNamespace[]): Promise<readonly Omit<Holder, "mountPoint">[]> {
    return this.#deps.incarnation.look(latency.call, () => {
      const all = [...this.#deps.machine.kernel.processes.all()];
      return namespaces.flatMap((asked) => {
        const one = all.find(({ namespace }) => namespace.name === asked.namespace);
        return one === undefined ? [] : [this.#member(one.pid, one.command, one.namespace)];
      });
    });
  }

  users(mountPoint: string): Promise<readonly Holder[]> {
    return this.#deps.incarnation.look(latency.call, () => {
      const { machine, namespace } = this.#deps;
      const id = machine.table(namespace).at(mountPoint)?.id;
      const mount = [...namespace.mounts].find((one) => one.id === id);
      if (mount === undefined) return [];
      const users: Holder[] = [];
      for (const { pid, command, holds } of machine.kernel.processes.all()) {
        const held = [...holds].find((path) => isCopy(path.mount, mount));
        if (held !== undefined) users.push({ pid, command, mountPoint: openPath(held) ?? "?" });
      }
      return users;
    });
  }

  /** The simulated kernel has neither swap nor loop devices. */
  async kernelUsers(): Promise<readonly Blocker[]> {
    return [];
  }

  /** A simulated disk has a number that no other gets in the same boot. */
  diskSequence(deviceNumber: string): Promise<string | undefined> {
    return this.#deps.incarnation.look(latency.call, () => (this.#hasDisk(deviceNumber) ? deviceNumber : undefined));
  }

  hasBlockDevice(deviceNumber: string): Promise<boolean> {
    return this.#deps.incarnation.look(latency.call, () => this.#hasDisk(deviceNumber));
  }

  alive(child: ChildProcessID): Promise<boolean> {
    const { machine, incarnation } = this.#deps;
    return incarnation.look(latency.call, () => machine.kernel.processes.get(child.pid)?.startTime === child.startTime);
  }

  bootID(): Promise<string> {
    return this.#deps.incarnation.look(latency.call, () => this.#deps.machine.kernel.bootID);
  }

  #hasDisk(deviceNumber: string): boolean {
    const { disks, kernel } = this.#deps.machine;
    const fixed = [...disks.values()].some((disk) => disk.number === deviceNumber);
    return fixed || kernel.loops.get(deviceNumber)?.mounted === true;
  }

  #member(pid: number, command: string, namespace: Namespace): Omit<Holder, "mountPoint"> {
    const onNode = namespace === this.#deps.machine.kernel.host;
    return { pid, command, namespace: namespace.name, ...(onNode && { onNode }) };
  }
}

/** Whether it is the mount itself, or one in another namespace to which an unmount of it propagates. */
function isCopy(mount: Mount, of: Mount): boolean {
  if (mount === of) return true;
  if (of.group === undefined || mount.namespace === undefined || mount.namespace === of.namespace) return false;
  return mount.group === of.group || mount.master === of.group;
}

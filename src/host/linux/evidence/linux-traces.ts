import { readlinkSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { joinPath, type MountIdentity } from "../../mount-table/mount-table.ts";
import type { Holder, StagedVolume, StaleLoop, Traces } from "../../ports/evidence.ts";
import { errnoOf } from "../syscall/errno.ts";
import { loadMountCalls } from "../syscall/mount-calls.ts";
import type { EnteringChild } from "./entered-namespace.ts";
import type { NamespaceCalls } from "./listed-namespaces.ts";
import { eachMountNamespace, type MountNamespace } from "./mount-namespaces.ts";
import { whoIsIn } from "./mount-users.ts";
import { mayShow, type SeenMount } from "./seen-mount.ts";

/** `pod<uid>`, or with systemd `kubepods-burstable-pod<uid with _>.slice` (kubelet: pod_container_manager_linux.go). */
const podCgroup = /(?:^|-)pod([0-9A-Za-z][0-9A-Za-z_-]{0,63}?)(?:\.slice)?$/;
/**
 * How the names of kubelet's top cgroups begin. Beneath a --cgroup-root of one part they are the same, or with systemd
 * have its name before them (rootedCgroup).
 */
const topCgroup = /^(kubepods|kubelet)/;
const rootedCgroup = /(?:^|-)kubepods(?:\.slice)?$/;
/** kubepods.slice/kubepods-burstable.slice/…pod….slice; one more where kubelet has a --cgroup-root. */
const deepest = 4;
const removed = " (deleted)";

/** Of cgroupfs, sysfs and proc, none of which can hang. What kubelet has written is on kubelet's own file system. */
export class LinuxTraces implements Traces {
  readonly #hostRoot: string;
  readonly #nodeProcess: number | "self";
  readonly #cgroups: string;
  readonly #blocks: string;
  readonly #calls: NamespaceCalls;
  readonly #entering: EnteringChild | undefined;

  /**
   * @param hostRoot where the node's root is seen
   * @param nodeProcess a process in the node's mount namespace
   */
  constructor(
    hostRoot: string,
    nodeProcess: number | "self" = "self",
    calls: NamespaceCalls = loadMountCalls(),
    entering?: EnteringChild,
  ) {
    this.#hostRoot = hostRoot;
    this.#calls = calls;
    this.#entering = entering;
    this.#nodeProcess = nodeProcess;
    this.#cgroups = joinPath(hostRoot, "sys/fs/cgroup");
    this.#blocks = joinPath(hostRoot, "sys/block");
  }

  async pods(): Promise<ReadonlySet<string> | undefined> {
    const uids = new Set<string>();
    for (const hierarchy of await this.#hierarchies()) await this.#podsOf(hierarchy, uids);
    return uids.size === 0 ? undefined : uids;
  }

  /** One of version 2; of version 1 one for each controller, as `memory`: a pod that is left in any of them counts. */
  async #hierarchies(): Promise<readonly string[]> {
    const entries = await listed(this.#cgroups);
    return entries.includes("cgroup.controllers") ? [this.#cgroups] : entries.map((name) => `${this.#cgroups}/${name}`);
  }

  /** Beneath kubepods alone: an agent's machine may have thousands of other cgroups. */
  async #podsOf(hierarchy: string, uids: Set<string>): Promise<void> {
    for (const entry of await listed(hierarchy)) {
      const directory = `${hierarchy}/${entry}`;
      if (topCgroup.test(entry)) await this.#podsIn(directory, deepest - 1, uids);
      else
        for (const rooted of (await listed(directory)).filter((name) => rootedCgroup.test(name)))
          await this.#podsIn(`${directory}/${rooted}`, deepest - 2, uids);
    }
  }

  async #podsIn(directory: string, depth: number, uids: Set<string>): Promise<void> {
    for (const entry of await listed(directory)) {
      const pod = podCgroup.exec(entry)?.[1];
      if (pod !== undefined) uids.add(pod.replaceAll("_", "-"));
      else if (depth > 1) await this.#podsIn(`${directory}/${entry}`, depth - 1, uids);
    }
  }

  async staleLoops(): Promise<readonly StaleLoop[]> {
    const stale: StaleLoop[] = [];
    for (const name of await listed(this.#blocks)) {
      if (!/^loop\d+$/.test(name)) continue;
      const backing = (await textOf(`${this.#blocks}/${name}/loop/backing_file`)).trimEnd();
      if (!backing.endsWith(removed)) continue;
      const deviceNumber = (await textOf(`${this.#blocks}/${name}/dev`)).trim();
      stale.push({ path: `/dev/${name}`, deviceNumber, backing: backing.slice(0, -removed.length) });
    }
    return stale;
  }

  async stagedVolume(directory: string): Promise<StagedVolume | undefined> {
    const text = await textOf(joinPath(this.#hostRoot, `${directory.slice(1)}/vol_data.json`));
    return text === "" ? undefined : stagedVolume(text);
  }

  async shownApart(identity: MountIdentity, tail: string): Promise<readonly Holder[]> {
    const node = readlinkSync(`/proc/${this.#nodeProcess}/ns/mnt`);
    const holders: Holder[] = [];
    const isApart = (mount: SeenMount) => {
      if (!mayShow(mount, identity)) return false;
      return !mount.point.endsWith(tail) || (mount.shared === undefined && mount.master === undefined);
    };
    const visit = async (namespace: MountNamespace) => {
      if (namespace.name === node) return true;
      let apart: SeenMount | undefined;
      const read = await namespace.scan({
        wanted: (_parent, device) => device === identity.device,
        found: (mount) => {
          if (isApart(mount)) apart = mount;
          return apart !== undefined;
        },
      });
      if (apart === undefined) return read;
      holders.push({ ...whoIsIn(namespace, false), mountPoint: apart.point });
      return true;
    };
    await eachMountNamespace(this.#calls, visit, this.#entering);
    return holders;
  }
}

/** kubelet does not write it atomically (behaviour 103): half of it is none. */
function stagedVolume(text: string): StagedVolume | undefined {
  try {
    const { driverName, volumeHandle } = JSON.parse(text) as { driverName?: unknown; volumeHandle?: unknown };
    if (typeof driverName !== "string" || typeof volumeHandle !== "string") return undefined;
    return { driver: driverName, volumeHandle };
  } catch {
    return undefined;
  }
}

/** Nothing of what is not there, or went while it was looked at. */
async function listed(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    return unlessGone(error, []);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    return unlessGone(error, "");
  }
}

function unlessGone<T>(error: unknown, otherwise: T): T {
  if (["ENOENT", "ENOTDIR", "ENODEV", "ENXIO"].includes(errnoOf(error) ?? "")) return otherwise;
  throw error;
}

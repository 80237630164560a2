import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { isBeneath, joinPath, type MountIdentity, relativePath } from "../../mount-table/mount-table.ts";
import { type MountEntry, unescapeOctal } from "../../mount-table/mountinfo.ts";
import { type Blocker, type InNamespace, PinnedUnknown, sameNamespace } from "../../ports/evidence.ts";
import type { Evidence, Holder } from "../../ports/host-ports.ts";
import type { ChildProcessID } from "../../ports/types.ts";
import { isAlive } from "../child/processes.ts";
import { diskSequence } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { loadLibc } from "../syscall/libc.ts";
import { loadMountCalls } from "../syscall/mount-calls.ts";
import { bootID } from "../syscall/proc.ts";
import { coalesceRequests, type Found } from "./coalesce-requests.ts";
import type { EnteringChild } from "./entered-namespace.ts";
import type { NamespaceCalls } from "./listed-namespaces.ts";
import { eachMountNamespace, ifReadable, type MountNamespace } from "./mount-namespaces.ts";
import { usersOf, whoIsIn } from "./mount-users.ts";
import { mayBeOf, mayShow } from "./seen-mount.ts";

/** The mount that a namespace shows for a question, by the question's number. */
type Shown = Map<number, MountEntry>;

/** What one namespace's table says. `read` is false if its process has ended. */
interface Look {
  readonly read: boolean;
  readonly shown: Shown;
  /** Questions to which that table has too much to say. */
  readonly tooMany?: readonly number[];
}

/** Mounts of one file system in one namespace that a target may lie in; nobody has so many for a good reason. */
const parentLimit = 10_000;

/**
 * What the kernel and /proc say about who uses a volume. Needs the node's process namespace (hostPID), its root, and
 * for the list of mount namespaces CAP_SYS_ADMIN.
 */
export class LinuxEvidence implements Evidence {
  readonly #nodeProcess: number | "self";
  readonly #usersOf: Evidence["users"];
  readonly #calls: NamespaceCalls;
  readonly #entering: EnteringChild | undefined;

  /**
   * @param nodeProcess a process in the node's mount namespace
   * @param users who keeps a mount busy; in this process, which may take long, if nobody else is asked
   * @param entering a child that enters mount namespaces that no process is in, where the kernel does not list them
   */
  constructor(
    nodeProcess: number | "self",
    users: Evidence["users"] = (point) => usersOf(loadLibc(), point),
    calls: NamespaceCalls = loadMountCalls(),
    entering?: EnteringChild,
  ) {
    this.#nodeProcess = nodeProcess;
    this.#usersOf = users;
    this.#calls = calls;
    this.#entering = entering;
  }

  /** Everybody who asks at the same time shares a look: a node that is drained asks for each of its volumes. */
  readonly holders = coalesceRequests((identities: readonly MountIdentity[]) =>
    this.#inEachNamespace(identities, async (namespace) => {
      const asked = byDevice(identities);
      const shown: Shown = new Map();
      const read = await namespace.scan({
        wanted: (_parent, device) => asked.has(device),
        found: (mount) => {
          for (const { identity, index } of asked.get(mount.device) ?? [])
            if (!shown.has(index) && mayShow(mount, identity)) shown.set(index, mount);
          return shown.size === identities.length;
        },
      });
      return { read, shown };
    }),
  );

  readonly mountedOn = coalesceRequests((places: readonly MountIdentity[]) =>
    this.#inEachNamespace(places, async (namespace) => {
      const asked = byDevice(places);
      /** By the id of a mount that shows a place: where in it the place is, and whose it is. */
      const points = new Map<string, { point: string; index: number }[]>();
      const counts = new Map<number, number>();
      const read = await namespace.scan({
        wanted: (_parent, device) => asked.has(device),
        found: (mount) => {
          for (const { identity, index } of asked.get(mount.device) ?? []) {
            const count = counts.get(index) ?? 0;
            if (count > parentLimit || !mayBeOf(mount, identity) || !isBeneath(identity.root, mount.root)) continue;
            const point = joinPath(mount.point, relativePath(mount.root, identity.root));
            counts.set(index, count + 1);
            const there = points.get(`${mount.id}`);
            if (there === undefined) points.set(`${mount.id}`, [{ point, index }]);
            else there.push({ point, index });
          }
          return false;
        },
      });
      const shown: Shown = new Map();
      const again = await namespace.scan({
        wanted: (parent) => points.has(parent),
        found: (mount) => {
          for (const { point, index } of points.get(`${mount.parent}`) ?? []) {
            const first = shown.get(index);
            if (mount.point === point && (first === undefined || !isPrivate(first))) shown.set(index, mount);
          }
          return shown.size === places.length && [...shown.values()].every(isPrivate);
        },
      });
      const tooMany = [...counts].flatMap(([index, count]) => (count > parentLimit ? [index] : []));
      return { read: read && again, shown, tooMany };
    }),
  );

  #each(visit: (namespace: MountNamespace) => Promise<boolean>): Promise<void> {
    return eachMountNamespace(this.#calls, visit, this.#entering);
  }

  /** What each namespace shows for each question. A question that cannot be answered has an error, the others go on. */
  async #inEachNamespace(questions: readonly unknown[], look: (namespace: MountNamespace) => Promise<Look>) {
    const node = ifReadable(() => readlinkSync(`/proc/${this.#nodeProcess}/ns/mnt`));
    const holders = questions.map((): Holder[] => []);
    const errors = new Map<number, Error>();
    const each = this.#each(async (namespace) => {
      const { read, shown, tooMany = [] } = await look(namespace);
      if (!read) return false; // it ended in between; another process may show the same namespace
      for (const index of tooMany) errors.set(index, shownTooOften(namespace.name));
      const who = shown.size === 0 ? undefined : whoIsIn(namespace, namespace.name === node);
      if (who !== undefined)
        for (const [index, mount] of shown) {
          holders[index]?.push({ ...who, mountPoint: mount.point, ...(isPrivate(mount) && { private: true }) });
        }
      return true;
    });
    const unread = await each.then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof PinnedUnknown) return error;
        throw error;
      },
    );
    return holders.map((answer, index): Found<readonly Holder[]> => {
      const found = answer.toSorted(byPid);
      const error = errors.get(index) ?? unread?.beside(found);
      return error === undefined ? { answer: found } : { error };
    });
  }

  async members(namespaces: readonly InNamespace[]): Promise<readonly Omit<Holder, "mountPoint">[]> {
    const there: Omit<Holder, "mountPoint">[] = [];
    await this.#each(async (namespace) => {
      if (!namespaces.some((asked) => asked.namespace === namespace.name)) return true;
      const who = whoIsIn(namespace, false);
      if (namespaces.some((asked) => sameNamespace(asked, who))) there.push(who);
      return true;
    });
    return there;
  }

  users(mountPoint: string): Promise<readonly Holder[]> {
    return this.#usersOf(mountPoint);
  }

  async kernelUsers(mountPoint: string): Promise<readonly Blocker[]> {
    return kernelUsersOf(mountPoint);
  }

  async hasBlockDevice(deviceNumber: string): Promise<boolean> {
    return existsSync(`/sys/dev/block/${deviceNumber}`);
  }

  async diskSequence(deviceNumber: string): Promise<string | undefined> {
    return diskSequence(deviceNumber);
  }

  async alive(child: ChildProcessID): Promise<boolean> {
    return ifReadable(() => isAlive(child)) ?? false;
  }

  async bootID(): Promise<string> {
    return bootID();
  }
}

/** Those of a process first. */
function byPid(a: Holder, b: Holder): number {
  return (a.pid ?? Number.MAX_SAFE_INTEGER) - (b.pid ?? Number.MAX_SAFE_INTEGER);
}

function isPrivate({ shared, master }: MountEntry): boolean {
  return shared === undefined && master === undefined;
}

function byDevice(identities: readonly MountIdentity[]) {
  return Map.groupBy(
    identities.map((identity, index) => ({ identity, index })),
    ({ identity }) => identity.device,
  );
}

function shownTooOften(namespace: string): VolumeError {
  const message = `the mount namespace ${namespace} shows the file system of a target more than ${parentLimit} times: end its processes`;
  return new VolumeError("StillReferenced", "transient", message);
}

/**
 * What the kernel itself has open beneath a mount point, for no process: swap files, and files that are loop devices.
 */
function kernelUsersOf(mountPoint: string): readonly Blocker[] {
  const swaps = lines("/proc/swaps")
    .slice(1)
    .flatMap((line): Blocker[] => {
      const path = unescapeOctal(line.split(/\s/, 1)[0] ?? "");
      return isBeneath(path, mountPoint) ? [{ kind: "Swap", name: path }] : [];
    });
  const loops = entries("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .flatMap((name): Blocker[] => {
      const [file] = lines(`/sys/block/${name}/loop/backing_file`);
      if (file === undefined || !isBeneath(file, mountPoint)) return [];
      return [{ kind: "LoopDevice", name: `/dev/${name}`, detail: file }];
    });
  return [...swaps, ...loops];
}

function lines(path: string): string[] {
  return (ifThere(() => readFileSync(path, "utf8")) ?? "").split("\n").filter((line) => line !== "");
}

function entries(path: string): string[] {
  return ifThere(() => readdirSync(path)) ?? [];
}

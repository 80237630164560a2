import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { VolumeError } from "../../errors.ts";
import type { Blocker } from "../holder.ts";
import { isBeneath, joinPath, type MountIdentity, relativePath, sameFilesystem } from "../mount-table.ts";
import type { MountEntry } from "../mountinfo.ts";
import type { ChildProcessID, Evidence, Holder } from "../ports.ts";
import { startTimeOf } from "./child-runner.ts";
import { errnoOf } from "./errno.ts";
import { kernelUsersOf } from "./kernel-users.ts";
import { loadLibc } from "./libc.ts";
import { eachMountNamespace, scanTable } from "./mount-namespaces.ts";
import { containerOfProcess, usersOf } from "./mount-users.ts";

/** Mounts of one file system in one namespace that a target may lie in; nobody has so many for a good reason. */
const parentLimit = 10_000;

const gone = new Set(["ENOENT", "ESRCH"]);

/** What /proc says about who uses a volume. Needs the node's process namespace (hostPID) and its root. */
export class LinuxEvidence implements Evidence {
  readonly #nodeProcess: number | "self";
  readonly #usersOf: Evidence["users"];

  /**
   * @param nodeProcess a process in the node's mount namespace
   * @param users who keeps a mount busy; in this process, which may take long, if nobody else is asked
   */
  constructor(nodeProcess: number | "self", users: Evidence["users"] = (point) => usersOf(loadLibc(), point)) {
    this.#nodeProcess = nodeProcess;
    this.#usersOf = users;
  }

  holders(identity: MountIdentity): Promise<readonly Holder[]> {
    return this.#inEachNamespace(async (table) => {
      let shown: MountEntry | undefined;
      const read = await scanTable(
        table,
        (_parent, device) => device === identity.device,
        (mount) => {
          if (sameFilesystem(mount, identity) && isBeneath(mount.root, identity.root)) shown = mount;
          return shown !== undefined;
        },
      );
      return { read, shown };
    });
  }

  mountedOn(place: MountIdentity): Promise<readonly Holder[]> {
    return this.#inEachNamespace(async (table) => {
      const points = new Map<string, string>();
      const isOfPlace = (mount: MountEntry) => sameFilesystem(mount, place) && isBeneath(place.root, mount.root);
      const read = await scanTable(
        table,
        (_parent, device) => device === place.device,
        (mount) => {
          if (isOfPlace(mount)) points.set(`${mount.id}`, joinPath(mount.point, relativePath(mount.root, place.root)));
          return points.size > parentLimit;
        },
      );
      if (points.size > parentLimit) {
        const message = `${table} shows the file system of a target more than ${parentLimit} times: end that process`;
        throw new VolumeError("StillReferenced", "transient", message);
      }
      let shown: MountEntry | undefined;
      const again = await scanTable(
        table,
        (parent) => points.has(parent),
        (mount) => {
          if (mount.point === points.get(`${mount.parent}`)) shown = mount;
          return shown !== undefined;
        },
      );
      return { read: read && again, shown };
    });
  }

  async #inEachNamespace(
    look: (table: string) => Promise<{ read: boolean; shown: MountEntry | undefined }>,
  ): Promise<readonly Holder[]> {
    const node = unlessGone(() => readlinkSync(`/proc/${this.#nodeProcess}/ns/mnt`));
    const holders: Holder[] = [];
    await eachMountNamespace(async ({ pid, namespace, table }) => {
      const { read, shown } = await look(table);
      if (!read) return false; // it ended in between; another process may show the same namespace
      const onNode = namespace === node;
      if (shown === undefined) return true;
      const who = { pid, command: commandOf(pid), ...(onNode ? { onNode } : containerOfProcess(pid)) };
      holders.push({ ...who, mountPoint: shown.point });
      return true;
    });
    return holders;
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

  async alive(child: ChildProcessID): Promise<boolean> {
    return unlessGone(() => startTimeOf(child.pid) === child.startTime && !hasEnded(child.pid)) ?? false;
  }

  async bootID(): Promise<string> {
    return bootID();
  }
}

/**
 * Whether a process that is still listed does nothing any more: whoever should take note of its end may never do so. Its
 * first thread may have ended before others.
 */
function hasEnded(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const [state] = stat.slice(stat.lastIndexOf(")") + 2);
  return (state === "Z" || state === "X") && readdirSync(`/proc/${pid}/task`).length <= 1;
}

/** Another one after each boot of the machine. */
export function bootID(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function commandOf(pid: number): string {
  return ifReadable(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "?";
}

/** For what is only told to people: what cannot be read is left out. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** For evidence: what cannot be read is in use. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (gone.has(errnoOf(error) ?? "")) return undefined;
    const message = `what another process has mounted cannot be read: ${error instanceof Error ? error.message : error}`;
    throw new VolumeError("StillReferenced", "transient", message, { cause: error });
  }
}

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { VolumeError } from "../../errors.ts";
import { isBeneath, type MountIdentity, sameFilesystem } from "../mount-table.ts";
import { parseMountinfo } from "../mountinfo.ts";
import type { ChildProcessID, Evidence, Holder } from "../ports.ts";
import { startTimeOf } from "./child-runner.ts";
import { errnoOf } from "./errno.ts";

const gone = new Set(["ENOENT", "ESRCH"]);

/** What /proc says about who uses a volume. Needs the node's process namespace (hostPID) and its root. */
export class LinuxEvidence implements Evidence {
  readonly #nodeProcess: number | "self";

  /** @param nodeProcess a process in the node's mount namespace */
  constructor(nodeProcess: number | "self") {
    this.#nodeProcess = nodeProcess;
  }

  async holders(identity: MountIdentity): Promise<readonly Holder[]> {
    const seen = new Set<string>();
    const node = unlessGone(() => readlinkSync(`/proc/${this.#nodeProcess}/ns/mnt`));
    const holders: Holder[] = [];
    for (const pid of processes()) {
      const namespace = unlessGone(() => readlinkSync(`/proc/${pid}/ns/mnt`));
      if (namespace === undefined || seen.has(namespace)) continue;
      const table = unlessGone(() => readFileSync(`/proc/${pid}/mountinfo`, "utf8"));
      if (table === undefined) continue; // it ended in between; another process may show the same namespace
      seen.add(namespace);
      const mount = parseMountinfo(table).find((m) => sameFilesystem(m, identity) && isBeneath(m.root, identity.root));
      if (mount === undefined) continue;
      const onNode = namespace === node;
      holders.push({ pid, command: commandOf(pid), mountPoint: mount.point, ...(onNode && { onNode }) });
    }
    return holders;
  }

  async users(mountPoint: string): Promise<readonly Holder[]> {
    const users: Holder[] = [];
    for (const pid of processes()) {
      const link = openPaths(pid).find((path) => isBeneath(path, mountPoint));
      if (link !== undefined) users.push({ pid, command: commandOf(pid), mountPoint: link });
    }
    return users;
  }

  async hasBlockDevice(deviceNumber: string): Promise<boolean> {
    return existsSync(`/sys/dev/block/${deviceNumber}`);
  }

  async alive(child: ChildProcessID): Promise<boolean> {
    return unlessGone(() => startTimeOf(child.pid)) === child.startTime;
  }

  async bootID(): Promise<string> {
    return bootID();
  }
}

/** Another one after each boot of the machine. */
export function bootID(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function processes(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** Working directory, root and open files of a process, as links: reading a link asks no file system. */
function openPaths(pid: number): string[] {
  const fds = ifReadable(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  const links = ["cwd", "root", ...fds.map((fd) => `fd/${fd}`)];
  return links.flatMap((link) => ifReadable(() => readlinkSync(`/proc/${pid}/${link}`)) ?? []);
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

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (gone.has(errnoOf(error) ?? "")) return undefined;
    const message = `what another process has mounted cannot be read: ${error instanceof Error ? error.message : error}`;
    throw new VolumeError("StillReferenced", "transient", message, { cause: error });
  }
}
/** For evidence: what cannot be read is in use. */

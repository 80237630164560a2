import { readdirSync, readlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { messageOf, VolumeError } from "../../errors.ts";
import { type MountEntry, parseMountinfo } from "../mountinfo.ts";
import { errnoOf } from "./errno.ts";

/** A thread that is in a mount namespace. */
export interface NamespaceMember {
  readonly pid: number;
  /** What /proc calls the namespace. */
  readonly namespace: string;
  /** Its mount table. */
  readonly table: string;
}

/** How often all threads are gone through, until a time shows no namespace that was not read yet. */
const passes = 8;
/** Threads that are looked at before others get a turn. */
const turn = 256;
/** Bytes of a mount table: more is not read. 100,000 mounts, the most that one namespace may have, are 20 to 30 MB. */
const tableLimit = 1024 ** 3;
const readAtOnce = 64 * 1024;

/**
 * Visits each mount namespace of the node once. A thread may be in another one than its process, and the first thread
 * may have ended before the others: so all of them are asked. A process that ends after it started another in a
 * namespace of its own would hide that: so they are gone through until nothing new is found.
 * @param visit false if the member has ended meanwhile: another one may show the namespace
 * @throws VolumeError StillReferenced if one cannot be read: what cannot be read is in use
 */
export async function eachMountNamespace(visit: (member: NamespaceMember) => Promise<boolean>): Promise<void> {
  const seen = new Set<string>();
  let looks = 0;
  for (let pass = 0; pass < passes; pass++) {
    const before = seen.size;
    for (const pid of numbered("/proc")) {
      for (const thread of numbered(`/proc/${pid}/task`)) {
        if (++looks % turn === 0) await new Promise((resolve) => setImmediate(resolve));
        const path = `/proc/${pid}/task/${thread}`;
        const namespace = unlessGone(() => readlinkSync(`${path}/ns/mnt`));
        if (namespace === undefined || seen.has(namespace)) continue;
        if (await visit({ pid, namespace, table: `${path}/mountinfo` })) seen.add(namespace);
      }
    }
    if (seen.size === before) return;
  }
  throw new VolumeError("StillReferenced", "transient", "new mount namespaces appear faster than they can be read");
}

/**
 * Reads a mount table piece by piece: whoever may make mounts can make it as long as the kernel lets them.
 * @param wanted says by its first fields whether a line is to be understood at all
 * @param found returns true to end the reading
 * @returns false if the process has ended
 */
export async function scanTable(
  path: string,
  wanted: (parent: string, device: string) => boolean,
  found: (mount: MountEntry) => boolean,
): Promise<boolean> {
  const file = await openTable(path);
  if (file === undefined) return false;
  await using table = file;
  const chunk = Buffer.alloc(readAtOnce);
  let rest: Buffer = Buffer.alloc(0);
  for (let total = 0; ; ) {
    const { bytesRead } = await read(table, chunk, path);
    if (bytesRead === 0) return true;
    total += bytesRead;
    if (total > tableLimit) throw unreadable(`${path} is longer than ${tableLimit} bytes: end that process`);
    const text = rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = text.indexOf(10); end !== -1; end = text.indexOf(10, start)) {
      if (isWanted(text, start, wanted)) {
        const [mount] = parseMountinfo(text.toString("utf8", start, end));
        if (mount !== undefined && found(mount)) return true;
      }
      start = end + 1;
    }
    rest = Buffer.from(text.subarray(start));
  }
}

function isWanted(text: Buffer, start: number, wanted: (parent: string, device: string) => boolean): boolean {
  const first = text.indexOf(32, start);
  const second = text.indexOf(32, first + 1);
  const third = text.indexOf(32, second + 1);
  return wanted(text.toString("latin1", first + 1, second), text.toString("latin1", second + 1, third));
}

/** EINVAL: the process is ending and has left its namespace already. */
async function openTable(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (["ENOENT", "ESRCH", "EINVAL"].includes(errnoOf(error) ?? "")) return undefined;
    throw unreadable(messageOf(error), error);
  }
}

async function read(file: FileHandle, chunk: Buffer, path: string): Promise<{ bytesRead: number }> {
  try {
    return await file.read(chunk, 0, chunk.length, null);
  } catch (error) {
    throw unreadable(`${path}: ${messageOf(error)}`, error);
  }
}

/** Entries of a directory of /proc that are numbers; none if it is gone. */
function numbered(directory: string): number[] {
  const names = unlessGone(() => readdirSync(directory)) ?? [];
  return names.flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** What a look at a process gives; undefined if it has ended. For evidence. @throws VolumeError StillReferenced */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "")) return undefined;
    throw unreadable(messageOf(error), error);
  }
}

function unreadable(why: string, cause?: unknown): VolumeError {
  return new VolumeError("StillReferenced", "transient", `what another process has mounted cannot be read: ${why}`, {
    cause,
  });
}

import { type FileHandle, open } from "node:fs/promises";
import { messageOf } from "../../../errors.ts";
import { parseMountinfo } from "../../mount-table/mountinfo.ts";
import { NamespacesUnknown } from "../../ports/evidence.ts";
import { errnoOf } from "../syscall/errno.ts";
import { type MountFilter, unreadable } from "./seen-mount.ts";

/** Bytes of a mount table: more is not read. 100,000 mounts, the most that one namespace may have, are 20 to 30 MB. */
const tableLimit = 1024 ** 3;
const readAtOnce = 64 * 1024;

/**
 * Reads a mount table piece by piece: whoever may make mounts can make it as long as the kernel lets them.
 * @returns false if the process has ended
 */
export async function scanTable(path: string, { wanted, found }: MountFilter): Promise<boolean> {
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

function isWanted(text: Buffer, start: number, wanted: MountFilter["wanted"]): boolean {
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
    throw new NamespacesUnknown(messageOf(error), error);
  }
}

async function read(file: FileHandle, chunk: Buffer, path: string): Promise<{ bytesRead: number }> {
  try {
    return await file.read(chunk, 0, chunk.length, null);
  } catch (error) {
    throw unreadable(`${path}: ${messageOf(error)}`, error);
  }
}

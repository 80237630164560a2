import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { PayloadFile } from "../ports.ts";
import { errnoOf } from "./errno.ts";

/**
 * Makes `directory` show exactly `files`, all at once for a reader, in kubelet's layout (behaviour 121,
 * pkg/volume/util/atomic_writer.go):
 *
 *   name      -> ..data/name          what readers open
 *   ..data    -> ..payload-a1b2c3             swapped by one rename
 *   ..payload-a1b2c3/name                     this payload
 *
 * Nobody else writes here: the targets are bound read-only. A crash leaves at most a payload that nothing points to,
 * which the next call removes.
 * @returns whether anything was written
 */
export function writeAtomically(directory: string, files: readonly PayloadFile[]): boolean {
  const data = join(directory, "..data");
  const current = readLink(data);
  const same = current !== undefined && isShown(join(directory, current), files);
  if (!same) {
    // 1. the new payload, complete, where no reader looks
    const fresh = mkdtempSync(join(directory, "..payload-"));
    for (const file of files) writeFile(fresh, file);
    chmodSync(fresh, 0o755);
    // 2. one rename shows it
    const swap = join(directory, "..data_tmp");
    rmSync(swap, { force: true });
    symlinkSync(fresh.slice(directory.length + 1), swap);
    renameSync(swap, data);
  }
  // 3. names that readers use, new ones first
  const names = new Set(files.map((file) => file.path.split("/", 1)[0] ?? ""));
  for (const name of names)
    if (readLink(join(directory, name)) === undefined) symlinkSync(`..data/${name}`, join(directory, name));
  // 4. what is no longer shown
  const shown = readLink(data);
  for (const name of readdirSync(directory)) {
    if (name === "..data" || name === shown || names.has(name)) continue;
    rmSync(join(directory, name), { recursive: true, force: true });
  }
  return !same;
}

function writeFile(base: string, file: PayloadFile): void {
  const path = join(base, file.path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, file.content, { flag: "wx", mode: 0o600 });
  chmodSync(path, file.mode);
}

function isShown(payload: string, files: readonly PayloadFile[]): boolean {
  const present = listFiles(payload, "");
  if (present === undefined || present.length !== files.length) return false;
  return files.every((file) => {
    if (!present.includes(file.path)) return false;
    const path = join(payload, file.path);
    return (statSync(path).mode & 0o777) === file.mode && readFileSync(path).equals(file.content);
  });
}

function listFiles(base: string, relative: string): string[] | undefined {
  try {
    return readdirSync(join(base, relative), { withFileTypes: true }).flatMap((entry) => {
      const path = join(relative, entry.name);
      return entry.isDirectory() ? (listFiles(base, path) ?? []) : [path];
    });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

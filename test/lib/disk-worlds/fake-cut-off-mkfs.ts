// Stands for an mkfs that is killed while it writes: node fake-cut-off-mkfs.ts SEED BYTES MKFS OPTION… DEVICE
// What the real one makes of a file as large stands on the device then, up to some place, without its first page:
// signatures are written last.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  fsyncSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Randomly } from "../builders/randomly.ts";

const page = 4096;
const [seed = "", bytes = "", mkfs = "", ...rest] = process.argv.slice(2);
const device = openSync(rest.pop() ?? "", constants.O_RDWR | constants.O_EXCL);
const directory = mkdtempSync(join(tmpdir(), "nvo-mkfs-"));
try {
  const path = join(directory, "made");
  writeFileSync(path, "");
  truncateSync(path, Number(bytes));
  execFileSync(mkfs, [...rest, path], { stdio: "ignore" });
  const pages = pagesOf(path);
  const count = 1 + new Randomly(Number(seed)).below(pages.length);
  for (const { at, data } of pages.slice(0, count)) writeSync(device, data, 0, data.length, at);
  fsyncSync(device);
} finally {
  closeSync(device);
  rmSync(directory, { recursive: true });
}
process.kill(process.pid, "SIGKILL");

/** Those that are not nothing but zeros, but for the first. */
function pagesOf(path: string): { at: number; data: Buffer }[] {
  const file = openSync(path, "r");
  const pages = [];
  for (let at = page; at < Number(bytes); at += page) {
    const data = Buffer.alloc(page);
    const length = readSync(file, data, 0, page, at);
    if (data.some((byte) => byte !== 0)) pages.push({ at, data: data.subarray(0, length) });
  }
  closeSync(file);
  return pages;
}

// Run in a node's mount namespace: writes and reads in folders, again and again, by open files and by path, until its
// input ends. A path must show what was written there the last time. Ends with 1 at the first error.
import { openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two rounds. */
const pause = 50;
const width = 12;

const places = process.argv.slice(2).map((folder, i) => ({
  byPath: join(folder, `load-by-path-${i}`),
  open: join(folder, `load-open-${i}`),
  file: openSync(join(folder, `load-open-${i}`), "w+"),
}));

let over = false;
process.stdin.resume().on("end", () => {
  over = true;
});

let longestMs = 0;
let reads = 0;
let writes = 0;
let before = performance.now();
for (let round = 1; !over; round += 1) {
  for (const { byPath, open, file } of places) {
    const text = String(round).padStart(width);
    writeSync(file, text, 0);
    const back = Buffer.alloc(width);
    readSync(file, back, 0, width, 0);
    same(open, back.toString(), text);
    if (round > 1) same(byPath, readFileSync(byPath, "utf8"), String(round - 1).padStart(width));
    writeFileSync(byPath, text);
    reads += round > 1 ? 2 : 1;
    writes += 2;
  }
  await sleep(pause);
  longestMs = Math.max(longestMs, performance.now() - before);
  before = performance.now();
  console.log(JSON.stringify({ round, reads, writes, longestMs: Math.round(longestMs) }));
}

function same(path: string, found: string, written: string): void {
  if (found !== written) throw new Error(`${path}: written ${written.trim()}, read ${found.trim()}`);
}

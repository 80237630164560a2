// The swapper's process: changes what paths mean, as fast as it can, until it is told to stop. See swapper.ts.
import { createInterface } from "node:readline";
import koffi from "koffi";
import type { Step } from "./steps.ts";

const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
/** Cycles between two looks at what it is told. */
const chunk = 100;
/**
 * Most turns of an empty loop between two steps: some µs, so that each state lasts for a while that cannot be foreseen.
 */
const longestPause = 4_000;

const lib = koffi.load(null);
const renameat2 = lib.func("renameat2", "int", ["int", "str", "int", "str", "uint"]);
const symlink = lib.func("symlink", "int", ["str", "str"]);
const unlink = lib.func("unlink", "int", ["str"]);
const rmdir = lib.func("rmdir", "int", ["str"]);
const mkdir = lib.func("mkdir", "int", ["str", "uint"]);

function perform(step: Step): number {
  switch (step[0]) {
    case "exchange":
      return renameat2(AT_FDCWD, step[1], AT_FDCWD, step[2], RENAME_EXCHANGE);
    case "rename":
      return renameat2(AT_FDCWD, step[1], AT_FDCWD, step[2], 0);
    case "symlink":
      return symlink(step[1], step[2]);
    case "unlink":
      return unlink(step[1]);
    case "rmdir":
      return rmdir(step[1]);
    case "mkdir":
      return mkdir(step[1], 0o755);
  }
}

let seed = 1;
function pause(): void {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  for (let turns = seed % longestPause; turns > 0; turns--);
}

let running = false;
async function swap(steps: readonly Step[]): Promise<void> {
  running = true;
  let [changes, refused] = [0, 0];
  while (running) {
    for (let cycle = 0; cycle < chunk; cycle++) {
      for (const step of steps) {
        if (perform(step) === 0) changes++;
        else refused++;
        pause();
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.stdout.write(`${JSON.stringify({ changes, refused })}\n`);
}

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "stop") running = false;
  else void swap(JSON.parse(line) as Step[]);
}
running = false;

// Takes away what keeps other people's disks from harm, one thing at a time, and says after how many worlds harm shows:
//   node hack/proof/disk-guards.ts [--grep TEXT] [--seed N] [--worlds N]
// The worlds are about the guard that is missing (`focus` in test/lib/disk-worlds/guards.ts).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "../lib/root.ts";
import { inSandbox, isRoot, seedArgs } from "./in-sandbox.ts";

const args = process.argv.slice(2);
const needs = isRoot() ? undefined : "loop devices are made and mounted, so this needs root";
const seed = args.includes("--seed") ? "given" : undefined;

await inSandbox({ script: import.meta.filename, args: seedArgs(seed), needs }, async () => {
  const run = join(root, "test/lib/disk-worlds/run-guards.ts");
  const [code] = await once(spawn(process.execPath, [run, ...args], { stdio: "inherit" }), "close");
  return { lines: [], failed: code !== 0 };
});

// Puts faults into the product, one at a time, and says which tests notice them:
//   node hack/proof/mutants.ts [--area planner|executor|journal|attach|other] [--grep TEXT]
//                              [--judges near,room,laws,real,sim] [--at-once N] [--again] [--survivors] [--table]
// Unit tests that are near first, then all of the room, then the law that is about it, tests on the real kernel for the
// executor (as root), then the simulator. Nothing is written to the sources: they are broken on their way into the
// process. What is done stands in dist/mutants.jsonl, so that the next run goes on; --again forgets that, --survivors
// tries those again that nobody noticed, --table prints the table alone.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../lib/root.ts";

const run = join(root, "test/mutants/run.ts");
const { status } = spawnSync(process.execPath, [run, ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;

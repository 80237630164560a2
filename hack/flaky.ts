// Runs lanes again and again beside busy loops, and prints each test that ever failed, with how often and why:
//   node hack/flaky.ts [--runs 20] [--beside 2] [--grep TEXT] LANE…
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildChild, childVariable } from "./lib/agent-on-kernel/programs.ts";
import { grepVariable, lanes } from "./lib/lanes/lanes.ts";
import { total } from "./lib/lanes/results.ts";
import { runLanes } from "./lib/lanes/run-lanes.ts";
import { measureSlowness, slownessVariable } from "./lib/lanes/slowness.ts";
import { root } from "./lib/root.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "20" },
    beside: { type: "string", default: "2" },
    grep: { type: "string" },
  },
});
const runs = Number(values.runs);
const beside = Number(values.beside);
const chosen = lanes.filter((lane) => positionals.includes(lane.name));
if (chosen.length === 0 || chosen.length < positionals.length || !(runs >= 1) || !(beside >= 0)) {
  console.error("usage: node hack/flaky.ts [--runs 20] [--beside 2] [--grep TEXT] LANE…");
  process.exit(2);
}

const loops: ChildProcess[] = [];
process.on("exit", () => {
  for (const loop of loops) loop.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
for (let at = 0; at < beside; at += 1) {
  // It ends with this process, however that ends, and does not keep it.
  const loop = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, "-e", "for (;;);"], { stdio: "ignore" });
  loop.unref();
  loops.push(loop);
}

const slowness = await measureSlowness();
console.log(`beside ${beside} busy loops this machine is ${slowness} times slower than a quiet one`);
const env = {
  ...process.env,
  [childVariable]: JSON.stringify(await buildChild(join(root, "dist/tests"))),
  [grepVariable]: values.grep ?? "",
  [slownessVariable]: String(slowness),
};
const failures = new Map<string, string[]>();
for (let run = 1; run <= runs; run += 1) {
  const { results, seconds } = await runLanes(chosen, env);
  for (const { lane, title, reason = "" } of results.filter(({ outcome }) => outcome === "failed")) {
    const reasons = failures.get(`${lane} | ${title}`) ?? [];
    failures.set(`${lane} | ${title}`, [...reasons, `run ${run}: ${reason.split("\n")[0]}`]);
  }
  const took = [...seconds.values()].reduce((sum, s) => sum + s, 0);
  const { passed, failed, skipped } = total(results);
  console.log(`run ${run} of ${runs}: ${passed} passed, ${failed} failed, ${skipped} skipped (${took.toFixed(0)} s)`);
}

console.log("");
for (const [test, reasons] of [...failures].sort(([, a], [, b]) => b.length - a.length)) {
  console.log(`failed ${reasons.length} of ${runs} times: ${test}`);
  for (const reason of reasons) console.log(`    ${reason}`);
}
if (failures.size === 0) console.log(`nothing failed in ${runs} runs`);
process.exitCode = [...failures.values()].some((reasons) => reasons.length > 1) ? 1 : 0;

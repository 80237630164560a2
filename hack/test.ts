// The test suite: node hack/test.ts [--all] [--full] [--grep TEXT] [LANE…]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildChild, childVariable } from "./lib/agent-on-kernel/programs.ts";
import { parseExpectedSkips, unexpectedSkips } from "./lib/lanes/expected-skips.ts";
import { allVariable, fullVariable, grepVariable, lanes } from "./lib/lanes/lanes.ts";
import { changesSince, machineState } from "./lib/lanes/machine-state.ts";
import { overdue, readQuarantine } from "./lib/lanes/quarantine.ts";
import { type TestResult, total } from "./lib/lanes/results.ts";
import { runLanes } from "./lib/lanes/run-lanes.ts";
import { runSecondTry } from "./lib/lanes/run-second-try.ts";
import { longestMs, toTryAgain, verdictOf } from "./lib/lanes/second-try.ts";
import { measureSlowness, slownessVariable } from "./lib/lanes/slowness.ts";
import { flakyLine, summaryOf } from "./lib/lanes/summary.ts";
import { root } from "./lib/root.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean" },
    full: { type: "boolean" },
    grep: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
const unknown = positionals.filter((name) => !lanes.some((lane) => lane.name === name));
if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`there is no lane ${name}`);
  console.log(`usage: npm test -- [--all] [--full] [--grep TEXT] [LANE…]

--all    slow tests, those in quarantine, and the VM, too: 50 minutes at most
--full   the long version of kill tests and of what is random, hours of it, with longer limits; implies --all
--grep   only tests with TEXT in their title, slow ones too
`);
  for (const lane of lanes) console.log(`  ${lane.name.padEnd(10)} ${lane.what}${lane.onlyAll ? " (--all)" : ""}`);
  process.exit(values.help ? 0 : 2);
}

const inCI = !["", "0", "false", undefined].includes(process.env["CI"]);
const all = Boolean(values.all || values.full);
const chosen = lanes.filter((lane) =>
  positionals.length === 0 ? all || !lane.onlyAll : positionals.includes(lane.name),
);
const skipsFile = join(root, "test/expected-skips.txt");
const expected = parseExpectedSkips(existsSync(skipsFile) ? readFileSync(skipsFile, "utf8") : "");
const quarantine = readQuarantine();
const slowness = await measureSlowness();
console.log(`this machine is ${slowness} times slower than a quiet one: deadlines are as much longer`);
// Tests of decisions start no children.
const startsChildren = chosen.some(({ work, processors }) => work.kind === "tests" && processors === undefined);
const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...(startsChildren && { [childVariable]: JSON.stringify(await buildChild(join(root, "dist/tests"))) }),
  [allVariable]: all ? "1" : "",
  [fullVariable]: values.full ? "1" : "",
  [grepVariable]: values.grep ?? "",
  [slownessVariable]: String(slowness),
};
const before = machineState();
const { results: first, seconds } = await runLanes(chosen, env);
// The gate's limit, which lanes of --all alone are no part of.
const ofGate = !all && values.grep === undefined && chosen.some(({ onlyAll }) => !onlyAll);
const longest = ofGate ? longestMs * slowness : undefined;
const tried = toTryAgain(first, chosen, longest);
if (tried.length === 0 && total(first).failed > 0)
  console.log("\nno second try: too much failed, or what is never retried");
const { results: tests, flaky } = verdictOf(first, tried, await runSecondTry(tried, env), longest);
const results = [...tests, ...(await checks())];

const surprises = unexpectedSkips(results, expected);
const counted = results.map((r) =>
  inCI && surprises.includes(r)
    ? {
        ...r,
        outcome: "failed" as const,
        reason: `skipped, which test/expected-skips.txt does not expect: ${r.reason}`,
      }
    : r,
);
const summary = summaryOf(counted, { seconds, surprises, flaky, slowness });
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(join(root, "dist/test-summary.txt"), summary);
writeFileSync(join(root, "dist/test-flaky.txt"), flaky.map((test) => `${flakyLine(test)}\n`).join(""));
console.log(`\n${summary}`);
process.exitCode = total(counted).failed > 0 ? 1 : 0;

/** What is asked of the run as a whole. */
async function checks(): Promise<TestResult[]> {
  const changed = await changesSince(before).catch((error: unknown) => [String(error)]);
  const late = overdue(quarantine, new Date());
  return [check("the machine is unchanged", changed), check("no test is in quarantine for too long", late)];
}

function check(title: string, problems: readonly string[]): TestResult {
  const reason = problems.join("\n");
  return { lane: "gate", title, ms: 0, ...(reason === "" ? { outcome: "passed" } : { outcome: "failed", reason }) };
}

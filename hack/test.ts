// The test suite: node hack/test.ts [--full] [--grep TEXT] [LANE…]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseExpectedSkips, unexpectedSkips } from "./lib/lanes/expected-skips.ts";
import { fullVariable, grepVariable, lanes } from "./lib/lanes/lanes.ts";
import { total } from "./lib/lanes/results.ts";
import { runLanes } from "./lib/lanes/run-lanes.ts";
import { summaryOf } from "./lib/lanes/summary.ts";
import { root } from "./lib/root.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { full: { type: "boolean" }, grep: { type: "string" }, help: { type: "boolean", short: "h" } },
});
const unknown = positionals.filter((name) => !lanes.some((lane) => lane.name === name));
if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`there is no lane ${name}`);
  console.log(
    "usage: npm test -- [--full] [--grep TEXT] [LANE…]\n\n--full   the long version of kill tests and of what is random, hours of it, with longer limits\n--grep   only tests with TEXT in their title\n",
  );
  for (const lane of lanes) console.log(`  ${lane.name.padEnd(10)} ${lane.what}`);
  process.exit(values.help ? 0 : 2);
}

const inCI = !["", "0", "false", undefined].includes(process.env["CI"]);
const env = { ...process.env, [fullVariable]: values.full ? "1" : "", [grepVariable]: values.grep ?? "" };
const chosen = lanes.filter((lane) => positionals.length === 0 || positionals.includes(lane.name));
const { results, seconds } = await runLanes(chosen, env);

const skipsFile = join(root, "test/expected-skips.txt");
const expected = parseExpectedSkips(existsSync(skipsFile) ? readFileSync(skipsFile, "utf8") : "");
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
const summary = summaryOf(counted, { seconds, surprises });
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(join(root, "dist/test-summary.txt"), summary);
console.log(`\n${summary}`);
process.exitCode = total(counted).failed > 0 ? 1 : 0;

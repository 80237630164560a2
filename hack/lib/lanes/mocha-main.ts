// Runs the tests of one lane and writes one JSON line for each to a file:
//   node hack/lib/lanes/mocha-main.ts LANE RESULTS_FILE FILE…
import { appendFileSync } from "node:fs";
import { config } from "chai";
import Mocha from "mocha";
import { StepError } from "../process.ts";
import { failureReason } from "./failure-reason.ts";
import { grepVariable, lanes } from "./lanes.ts";
import { noteOf } from "./note.ts";
import type { TestResult } from "./results.ts";
import { skipReason } from "./skip-reason.ts";

const [laneName, resultsFile = "", ...files] = process.argv.slice(2);
const lane = lanes.find((l) => l.name === laneName);
if (lane?.work.kind !== "tests") throw new Error(`${laneName} is not a lane of tests`);
const { verbose, timeoutMs = 10_000 } = lane.work;
// Clusters of a test live for minutes: their Go programs take memory rather than time to collect garbage.
process.env["GOGC"] ??= "400";

// What is compared is shown: "[ [ 'pod-28', …(1) ], …(4) ]" tells nobody why it failed.
config.truncateThreshold = 1_000;
const mocha = new Mocha({ reporter: Mocha.reporters.Base, timeout: timeoutMs, forbidOnly: true, parallel: false });
for (const file of files) mocha.addFile(file);
const grep = process.env[grepVariable];
if (grep) mocha.fgrep(grep);
await mocha.loadFilesAsync();
const runner = mocha.run((failures) => {
  // Not left to the event loop: a server that a test forgot to close must not hang the lane.
  process.exit(failures > 0 ? 1 : 0);
});

runner.on("pass", (test) => {
  record({ outcome: "passed", title: test.fullTitle(), ms: test.duration ?? 0, ...noteOf(test) });
  if (verbose) console.log(`  ✓ ${test.fullTitle()} (${test.duration ?? 0} ms)`);
});
runner.on("fail", (test, error: Error) => {
  record({
    outcome: "failed",
    title: test.fullTitle(),
    ms: test.duration ?? 0,
    reason: failureReason(error),
    ...noteOf(test),
  });
  const details = error instanceof StepError ? `\n${error.details.join("\n")}` : "";
  console.log(`  ✗ ${test.fullTitle()}\n${indent(`${error.stack ?? error.message}${details}`)}`);
});
runner.on("pending", (test) => {
  const reason = skipReason(test) ?? "no reason given";
  record({ outcome: "skipped", title: test.fullTitle(), ms: 0, reason });
  if (verbose) console.log(`  - ${test.fullTitle()}: ${reason}`);
});

function record(result: Omit<TestResult, "lane">): void {
  appendFileSync(resultsFile, `${JSON.stringify({ lane: lane?.name, ...result })}\n`);
}

function indent(text: string): string {
  return text
    .split("\n")
    .slice(0, 40)
    .map((line) => `      ${line}`)
    .join("\n");
}

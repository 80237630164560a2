// Runs the tests of one lane and writes one JSON line for each to a file:
//   node hack/lib/lanes/mocha-main.ts LANE RESULTS_FILE FILE…
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { config } from "chai";
import Mocha, { type Hook, type Runnable, type Suite, type Test } from "mocha";
import { StepError } from "../process.ts";
import { root } from "../root.ts";
import { slowness } from "../test-deadline.ts";
import { keepForSecondTry, leaveOut, type Wanted } from "./chosen-tests.ts";
import { failureReason } from "./failure-reason.ts";
import { allVariable, grepVariable, lanes, wantedVariable } from "./lanes.ts";
import { noteOf } from "./note.ts";
import { isQuarantined, readQuarantine } from "./quarantine.ts";
import type { TestResult } from "./results.ts";
import { skipReason } from "./skip-reason.ts";
import { isMarked, isSlow } from "./slow.ts";
import { forgetWaits, waitsNow } from "./waits.ts";

const [laneName, resultsFile = "", ...files] = process.argv.slice(2);
const lane = lanes.find((l) => l.name === laneName);
if (lane?.work.kind !== "tests") throw new Error(`${laneName} is not a lane of tests`);
const { verbose, timeoutMs = 30_000 } = lane.work;
// Clusters of a test live for minutes: their Go programs take memory rather than time to collect garbage.
process.env["GOGC"] ??= "400";

// What is compared is shown: "[ [ 'pod-28', …(1) ], …(4) ]" tells nobody why it failed.
config.truncateThreshold = 1_000;
const mocha = new Mocha({ reporter: Mocha.reporters.Base, timeout: timeoutMs, forbidOnly: true, parallel: false });
for (const file of files) mocha.addFile(file);
const grep = process.env[grepVariable];
if (grep) mocha.fgrep(grep);
await mocha.loadFilesAsync();
stretch(mocha.suite, slowness());
stretchLater(slowness());
// Who names a test means it.
if (!process.env[allVariable] && !grep) leaveOutOfTheGate(lane.name);
const wanted = process.env[wantedVariable];
if (wanted) keepForSecondTry(mocha.suite, JSON.parse(wanted) as Wanted);

const runner = mocha.run((failures) => {
  // Not left to the event loop: a server that a test forgot to close must not hang the lane.
  process.exit(failures > 0 ? 1 : 0);
});

runner.on("test", forgetWaits);
runner.on("pass", (test) => {
  record(test, { outcome: "passed", ...(isMarked(test) && { slow: true }), ...noteOf(test) });
  if (verbose) console.log(`  ✓ ${test.fullTitle()} (${test.duration ?? 0} ms)`);
});
runner.on("fail", (test, error: Error & { code?: string }) => {
  const waits = error.code === "ERR_MOCHA_TIMEOUT" ? waitsNow() : [];
  const hook = isHook(test) ? { hookOf: test.parent?.fullTitle() ?? "" } : {};
  record(test, { outcome: "failed", reason: [failureReason(error), ...waits].join("\n"), ...hook, ...noteOf(test) });
  const details = error instanceof StepError ? error.details : [];
  console.log(`  ✗ ${test.fullTitle()}\n${indent([error.stack ?? error.message, ...waits, ...details].join("\n"))}`);
});
runner.on("pending", (test) => {
  const reason = skipReason(test) ?? "no reason given";
  record(test, { outcome: "skipped", reason });
  if (verbose) console.log(`  - ${test.fullTitle()}: ${reason}`);
});

function leaveOutOfTheGate(name: string): void {
  const quarantine = readQuarantine();
  const isHeld = (test: Test) => isQuarantined(quarantine, { lane: name, title: test.fullTitle() });
  for (const test of leaveOut(mocha.suite, isHeld)) record(test, { outcome: "quarantined" });
  for (const test of leaveOut(mocha.suite, isSlow)) record(test, { outcome: "slow" });
}

/** Limits end what would never end: on a machine that is slow they are longer, as all deadlines are. */
function stretch(suite: Suite, factor: number): void {
  const { _beforeAll, _beforeEach, _afterEach, _afterAll } = suite as unknown as {
    [hooks: string]: Hook[] | undefined;
  };
  for (const runnable of [_beforeAll, _beforeEach, suite.tests, _afterEach, _afterAll].flat())
    runnable?.timeout(runnable.timeout() * factor);
  for (const inner of suite.suites) stretch(inner, factor);
}

/** What tests say of their limit while they run: `this.timeout(…)`. */
function stretchLater(factor: number): void {
  const { timeout } = Mocha.Runnable.prototype;
  const stretched = function (this: Runnable, ...[ms]: readonly (number | string)[]) {
    if (ms === undefined) return (timeout as () => number).call(this);
    return timeout.call(this, typeof ms === "number" ? ms * factor : ms);
  };
  Mocha.Runnable.prototype.timeout = stretched as typeof timeout;
}

/** Mocha hands over a hook that failed as if it were a test. */
function isHook(runnable: Runnable): boolean {
  return (runnable as Runnable & { readonly type: string }).type === "hook";
}

function record(test: Runnable, result: Omit<TestResult, "lane" | "title" | "ms">): void {
  const file = test.file === undefined ? {} : { file: relative(root, test.file) };
  const what = { lane: lane?.name, title: test.fullTitle(), ms: test.duration ?? 0, ...file };
  appendFileSync(resultsFile, `${JSON.stringify({ ...what, ...result })}\n`);
}

function indent(text: string): string {
  return text
    .split("\n")
    .slice(0, 40)
    .map((line) => `      ${line}`)
    .join("\n");
}

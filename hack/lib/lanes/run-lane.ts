import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, globSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cgroupOf, removeCgroup } from "../kubelet-node/cgroups.ts";
import { root } from "../root.ts";
import { newRunId, runInSandbox, runVariable } from "../sandbox/outside.ts";
import { locateArm64Node } from "../tools/arm64-node.ts";
import type { Wanted } from "./chosen-tests.ts";
import {
  allVariable,
  emulatedVariable,
  fullVariable,
  type Lane,
  minutesOf,
  type TestWork,
  wantedVariable,
} from "./lanes.ts";
import { leftoversOf, lookForTraces, processesOf, type Traces } from "./leftovers.ts";
import type { TestResult } from "./results.ts";
import { slownessVariable } from "./slowness.ts";

/**
 * Emulated tests are several times slower: their deadlines are as much longer, and those that are slow anyway are left
 * out.
 */
const emulation = { [emulatedVariable]: "1", [slownessVariable]: "8", [allVariable]: "", [fullVariable]: "" };

const sandboxScript = join(root, "hack/lib/sandbox/run.ts");

export interface How {
  readonly env: NodeJS.ProcessEnv;
  /** File for what it prints, while it runs beside others; absent: it has the terminal and the machine. */
  readonly outputFile?: string;
  /** For a second try: this file alone, and what of it; see chosen-tests.ts. */
  readonly only?: { readonly file: string; readonly wanted: Wanted };
}

/** Runs one lane, as root in a sandbox, and gives back what each test came to; a lane itself can fail as a test too. */
export async function runLane(lane: Lane, how: How): Promise<TestResult[]> {
  const started = performance.now();
  const failure = (title: string, reason: string): TestResult => {
    return { lane: lane.name, title, outcome: "failed", ms: performance.now() - started, reason };
  };
  const before = lookForTraces();
  const id = newRunId();
  const ours: How = { ...how, env: { ...how.env, [runVariable]: id } };
  const results: TestResult[] = [];
  if (lane.work.kind === "command") {
    const code = await execute(lane, lane.work.command, ours);
    if (code !== 0) results.push(failure(lane.work.command.join(" "), `exited with ${code}`));
    else results.push({ lane: lane.name, title: lane.what, outcome: "passed", ms: performance.now() - started });
  } else {
    const { code, found } = await runTests(lane, lane.work, ours);
    results.push(...found);
    // 1 is what failed tests end with; anything else cut the lane off, whatever had failed before.
    const accounted = code === 1 && found.some((r) => r.outcome === "failed");
    if (code !== 0 && !accounted) results.push(failure("the lane", `ended with ${code} before its last test`));
    const ran = found.some((r) => !["slow", "quarantined"].includes(r.outcome));
    if (!ran && code === 0) results.push(failure("the lane", "ran no test"));
  }
  // Beside other lanes, what else is new on the machine may be theirs, and each of them is asked for its own.
  const isAlone = how.outputFile === undefined && !isNested();
  if (isAlone) results.push(...(await leftBehind(lane, id, before)));
  else results.push(...processesOf(id).map((trace) => failure("nothing is left behind", trace)));
  // No sandbox ends a cgroup: that of a lane that was killed would stay for good.
  await removeCgroup(cgroupOf(id)).catch((error: unknown) =>
    results.push(failure("nothing is left behind", String(error))),
  );
  return results;
}

/**
 * Whether this is in a lane of another run, which sees no process but its own: whose a loop device is cannot be told
 * there.
 */
export function isNested(): boolean {
  return process.env[runVariable] !== undefined;
}

/** What is there that was not before, each a failure of the lane. */
export async function leftBehind(lane: Lane, runId: string, before: Traces): Promise<TestResult[]> {
  const left = await leftoversOf(runId, before);
  for (const trace of left) {
    // Nothing else ends a loop device whose test was killed.
    const [, loop] = /^loop device (\w+)$/.exec(trace) ?? [];
    if (loop !== undefined) spawnSync("losetup", ["--detach", `/dev/${loop}`]);
  }
  return left.map((reason) => {
    return { lane: lane.name, title: "nothing is left behind", outcome: "failed" as const, ms: 0, reason };
  });
}

async function runTests(lane: Lane, work: TestWork, how: How) {
  const { only } = how;
  const resultsFile = join(root, "dist", `results-${lane.name}${only === undefined ? "" : "-again"}.jsonl`);
  mkdirSync(dirname(resultsFile), { recursive: true });
  rmSync(resultsFile, { force: true });
  const files = only === undefined ? globSync(work.files, { cwd: root }).sort() : [only.file];
  if (files.length === 0) return { code: 0, found: [] };
  const node = work.arm64 ? await locateArm64Node({ env: how.env, report: (line) => console.log(line) }) : "node";
  if (typeof node !== "string") {
    return {
      code: 0,
      found: [{ lane: lane.name, title: "the lane", outcome: "skipped" as const, ms: 0, reason: node.missing }],
    };
  }
  const script = join(root, "hack/lib/lanes/mocha-main.ts");
  const wanted = only === undefined ? {} : { [wantedVariable]: JSON.stringify(only.wanted) };
  const env = { ...how.env, ...wanted, ...(work.arm64 && emulation) };
  const code = await execute(lane, [node, script, lane.name, resultsFile, ...files], { ...how, env });
  const lines = existsSync(resultsFile) ? readFileSync(resultsFile, "utf8").trimEnd().split("\n") : [];
  return { code, found: lines.filter((line) => line !== "").map((line) => JSON.parse(line) as TestResult) };
}

/** Programs of the project come from node_modules/.bin, Node among them. */
async function execute(lane: Lane, command: readonly string[], { env, outputFile }: How): Promise<number> {
  const path = `${join(root, "node_modules/.bin")}:${env["PATH"] ?? ""}`;
  const [program = "", ...args] = command[0] === "node" ? [process.execPath, ...command.slice(1)] : command;
  const limit = `${minutesOf(lane, Boolean(env[fullVariable]))}m`;
  // In a process group of its own: a test that kills all of its group ends its lane, and not what runs the lanes.
  const limited = ["setsid", "timeout", "--foreground", "--kill-after=10", limit, program, ...args];
  const output = outputFile === undefined ? undefined : openSync(outputFile, "w");
  try {
    if (process.getuid?.() === 0) {
      const id = env[runVariable] ?? newRunId();
      const toFile = output === undefined ? {} : { output };
      return await runInSandbox({
        script: sandboxScript,
        args: limited,
        env: { ...env, PATH: path },
        id,
        ...(lane.pids && { pids: lane.pids }),
        ...toFile,
      });
    }
    const child = spawn("setpriv", ["--pdeathsig", "KILL", ...limited], {
      stdio: ["inherit", output ?? "inherit", output ?? "inherit"],
      cwd: root,
      env: { ...env, PATH: path },
    });
    return await new Promise((resolve, reject) => child.on("error", reject).on("exit", (code) => resolve(code ?? 1)));
  } finally {
    if (output !== undefined) closeSync(output);
  }
}

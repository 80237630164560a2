import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "../root.ts";
import { newRunId } from "../sandbox/outside.ts";
import type { Lane } from "./lanes.ts";
import { lookForTraces } from "./leftovers.ts";
import { closingLine, type TestResult, total } from "./results.ts";
import { isNested, leftBehind, runLane } from "./run-lane.ts";

interface Outcome {
  readonly results: readonly TestResult[];
  /** By lane, in the order of the lanes. */
  readonly seconds: ReadonlyMap<string, number>;
}

/**
 * How many lanes of tests that touch the kernel run at once. On two processors three take as long as one after the
 * other by their own processor time, as each waits for the kernel or for servers half of its time; with four, some
 * wait for a processor.
 */
const atOnce = 3;

/**
 * Runs lanes: first those that need one processor, as many at once as there are processors, then those that need all of
 * them, then commands that make tools, then lanes of tests that touch the kernel, a few at once, and at the end those
 * that run alone.
 */
export async function runLanes(lanes: readonly Lane[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const ended = new Map<Lane, { readonly found: TestResult[]; readonly took: number }>();
  const decisions = lanes.filter((lane) => lane.processors === "one");
  await runBeside(decisions, availableParallelism());
  for (const lane of lanes.filter((l) => l.processors === "all")) await run(lane);
  const others = lanes.filter((lane) => lane.processors === undefined);
  for (const lane of others.filter(({ work }) => work.kind === "command")) await run(lane);
  const kernel = others.filter(({ work }) => work.kind === "tests");
  await runTogether(kernel.filter(({ alone }) => !alone));
  for (const lane of kernel.filter(({ alone }) => alone)) await run(lane);
  return {
    results: lanes.flatMap((lane) => ended.get(lane)?.found ?? []),
    seconds: new Map(lanes.map((lane) => [lane.name, ended.get(lane)?.took ?? 0])),
  };

  async function run(lane: Lane): Promise<void> {
    console.log(`\n== ${lane.name}: ${lane.what}`);
    console.log(await measured(lane));
  }

  /** What one of them leaves behind is only known once all have ended, and then counts as the first one's. */
  async function runTogether(together: readonly Lane[]): Promise<void> {
    const [first] = together;
    const before = lookForTraces();
    await runBeside(together, atOnce);
    if (first === undefined || together.length === 1 || isNested()) return;
    const left = await leftBehind(first, newRunId(), before);
    for (const { reason } of left) console.log(`left by ${first.name}, or what ran beside it: ${reason}`);
    ended.get(first)?.found.push(...left);
  }

  async function runBeside(together: readonly Lane[], most: number): Promise<void> {
    const waiting = [...together];
    const besides = waiting.length > 1;
    const runWaiting = async () => {
      for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift())
        await (besides ? runToFile(lane) : run(lane));
    };
    await Promise.all(Array.from({ length: most }, runWaiting));
  }

  /** What it prints follows at its end, so that the lines of two lanes do not mix. */
  async function runToFile(lane: Lane): Promise<void> {
    mkdirSync(join(root, "dist"), { recursive: true });
    const outputFile = join(root, "dist", `output-${lane.name}.txt`);
    console.log(`\n== ${lane.name}: begins, see dist/output-${lane.name}.txt`);
    const line = await measured(lane, outputFile);
    console.log(`\n== ${lane.name}: ${lane.what}\n${readFileSync(outputFile, "utf8")}${line}`);
  }

  async function measured(lane: Lane, outputFile?: string): Promise<string> {
    const started = performance.now();
    const found = await runLane(lane, { env, ...(outputFile !== undefined && { outputFile }) });
    const took = (performance.now() - started) / 1000;
    ended.set(lane, { found, took });
    return `== ${lane.name}: ${closingLine(total(found))} (${took.toFixed(1)} s)`;
  }
}

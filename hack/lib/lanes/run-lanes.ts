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
 * Runs lanes: first those that need one processor, as many at once as there are processors, then those that need all of
 * them, then the others, one after another, each with those that may run beside it.
 */
export async function runLanes(lanes: readonly Lane[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const ended = new Map<Lane, { readonly found: TestResult[]; readonly took: number }>();
  const waiting = lanes.filter((lane) => lane.processors === "one");
  const besides = waiting.length > 1;
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
  for (const lane of lanes.filter((l) => l.processors === "all")) await run(lane);
  const others = lanes.filter((lane) => lane.processors === undefined);
  const hasHost = (lane: Lane) => others.some(({ name }) => name === lane.beside);
  for (const lane of others.filter((one) => !hasHost(one))) {
    const guests = others.filter(({ beside }) => beside === lane.name);
    if (guests.length === 0) await run(lane);
    else await runTogether(lane, guests);
  }
  return {
    results: lanes.flatMap((lane) => ended.get(lane)?.found ?? []),
    seconds: new Map(lanes.map((lane) => [lane.name, ended.get(lane)?.took ?? 0])),
  };

  async function runWaiting(): Promise<void> {
    for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift())
      await (besides ? runBeside(lane) : run(lane));
  }

  async function run(lane: Lane): Promise<void> {
    console.log(`\n== ${lane.name}: ${lane.what}`);
    console.log(await measured(lane));
  }

  /** What one of them leaves behind is only known once all have ended, and then counts as the first one's. */
  async function runTogether(lane: Lane, guests: readonly Lane[]): Promise<void> {
    const before = lookForTraces();
    await Promise.all([lane, ...guests].map(runBeside));
    if (isNested()) return;
    const left = await leftBehind(lane, newRunId(), before);
    for (const { reason } of left) console.log(`left by ${lane.name}, or what ran beside it: ${reason}`);
    ended.get(lane)?.found.push(...left);
  }

  /** What it prints follows at its end, so that the lines of two lanes do not mix. */
  async function runBeside(lane: Lane): Promise<void> {
    mkdirSync(join(root, "dist"), { recursive: true });
    const outputFile = join(root, "dist", `output-${lane.name}.txt`);
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

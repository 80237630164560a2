import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import type { Lane } from "./lanes.ts";
import { closingLine, type TestResult, total } from "./results.ts";
import { runLane } from "./run-lane.ts";

interface Outcome {
  readonly results: readonly TestResult[];
  /** By lane. */
  readonly seconds: ReadonlyMap<string, number>;
}

/**
 * Runs lanes one after another, and those that are beside the ones after them: of these, too, one after another that are it for the same
 * reason, or they would take each other's time.
 */
export async function runLanes(lanes: readonly Lane[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const ended = new Map<Lane, { readonly found: TestResult[]; readonly took: number }>();
  const beside = { processors: Promise.resolve(), waits: Promise.resolve() };
  for (const lane of lanes) {
    if (lane.beside && lane !== lanes.at(-1)) {
      console.log(`\n== ${lane.name}: ${lane.what} (beside the lanes after it: what it says follows at its end)`);
      const runs = beside[lane.beside].then(() => runBeside(lane));
      runs.catch(() => {}); // it is waited for at the end
      beside[lane.beside] = runs;
    } else {
      console.log(`\n== ${lane.name}: ${lane.what}`);
      await run(lane);
    }
  }
  await Promise.all(Object.values(beside));
  return {
    results: lanes.flatMap((lane) => ended.get(lane)?.found ?? []),
    seconds: new Map(lanes.map((lane) => [lane.name, ended.get(lane)?.took ?? 0])),
  };

  async function run(lane: Lane, outputFile?: string): Promise<string> {
    const started = performance.now();
    const found = await runLane(lane, { env, ...(outputFile !== undefined && { outputFile }) });
    const took = (performance.now() - started) / 1000;
    ended.set(lane, { found, took });
    const line = `== ${lane.name}: ${closingLine(total(found))} (${took.toFixed(1)} s)`;
    if (outputFile === undefined) console.log(line);
    return line;
  }

  async function runBeside(lane: Lane): Promise<void> {
    mkdirSync(join(root, "dist"), { recursive: true });
    const outputFile = join(root, "dist", `output-${lane.name}.txt`);
    const line = await run(lane, outputFile);
    console.log(`\n== ${lane.name}, which ran beside:\n${readFileSync(outputFile, "utf8")}${line}`);
  }
}

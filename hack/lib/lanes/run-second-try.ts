import type { TestResult } from "./results.ts";
import { runLane } from "./run-lane.ts";
import type { Again } from "./second-try.ts";

/** Runs each again, alone. @returns what came of each, in their order */
export async function runSecondTry(tried: readonly Again[], env: NodeJS.ProcessEnv): Promise<TestResult[][]> {
  const found: TestResult[][] = [];
  for (const { lane, file, tests } of tried) {
    console.log(`\n== ${lane.name}, a second try of ${file}: ${tests.map(({ title }) => title).join("; ")}`);
    const hooks = tests.flatMap(({ hookOf }) => (hookOf === undefined ? [] : [hookOf]));
    const titles = tests.filter(({ hookOf }) => hookOf === undefined).map(({ title }) => title);
    found.push(await runLane(lane, { env, only: { file, wanted: { tests: titles, suites: hooks } } }));
  }
  return found;
}

import type { Admission } from "../api/admission.ts";
import { crashLedger, type LedgerEntry } from "../crash-ledger.ts";
import { effectsAfter, someCrash, somePairs } from "../crash-pairs.ts";
import { crashPoints } from "../crash-points.ts";
import { describeFailure } from "../failed-run.ts";
import type { CrashPoint } from "../faults.ts";
import { SeededRandom } from "../random.ts";
import { type RunInput, type RunResult, runScenario } from "../run-scenario.ts";
import { randomStories, scenarios } from "../scenarios/all.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { type Counts, Sightings } from "../sightings.ts";

/** Runs that belong together, done by one thread. */
export type Job =
  | { readonly kind: "crash"; readonly scenario: string; readonly all: boolean }
  | { readonly kind: "storm" | "drivers"; readonly firstSeed: number; readonly seeds: number }
  | { readonly kind: "pairs"; readonly firstSeed: number; readonly seeds: number }
  | { readonly kind: "stories"; readonly firstSeed: number; readonly seeds: number };

/** What a job came to; it travels between threads. */
export interface Outcome {
  readonly runs: number;
  /** Of these, the ones in which a process ended, and the next run of it, too. */
  readonly pairs: number;
  /** Of processor time of the thread that did them; other threads collect garbage and compile. */
  readonly ms: number;
  /** The effects of the scenario that was crashed, and where. */
  readonly ledger: readonly LedgerEntry[];
  /** What people need of each run that failed, but for the ones after the first few. */
  readonly failures: readonly string[];
  readonly failed: number;
  readonly seen: Counts;
}

const ofDrivers = scenarios.filter(({ world }) => (world?.drivers ?? []).length > 0);
const mostDescribed = 3;
const crashSeed = 1;
/** A clean run serves for so many first crashes, and a run with one of these alone for so many second ones. */
const pairsOf = { firsts: 3, seconds: 6 } as const;
/** The most pairs of a seed; it has fewer where a run ends soon after its crash. */
export const mostPairsOfSeed = pairsOf.firsts * pairsOf.seconds;

/** Does the runs of a job one after the other. */
export async function carryOut(job: Job, admission: Admission): Promise<Outcome> {
  const before = process.threadCpuUsage();
  const seen = new Sightings();
  const failures: string[] = [];
  let runs = 0;
  let failed = 0;
  const run = async (scenario: Scenario, input: RunInput): Promise<RunResult> => {
    const result = await runScenario(scenario, input, admission);
    runs++;
    seen.merge(result.world.sightings.counts());
    if (result.error !== undefined && ++failed <= mostDescribed) {
      failures.push(describeFailure(scenario, input, result));
    }
    return result;
  };
  const ledger = job.kind === "crash" ? await crashAll(job, run) : [];
  if (job.kind === "storm") await stormAll(job, scenarios, run);
  if (job.kind === "drivers") await stormAll(job, ofDrivers, run);
  const pairs = job.kind === "pairs" ? await crashPairs(job, run) : 0;
  if (job.kind === "stories") await tellStories(job, run);
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1000;
  return { runs, pairs, ms, ledger, failures, failed, seen: seen.counts() };
}

type Run = (scenario: Scenario, input: RunInput) => Promise<RunResult>;

/** A clean run, and then one for each place in it where a process can end. */
async function crashAll({ scenario: name, all }: Job & { kind: "crash" }, run: Run): Promise<LedgerEntry[]> {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new RangeError(`there is no scenario "${name}"`);
  const clean = await run(scenario, { seed: crashSeed });
  if (clean.error !== undefined) return [];
  const points = crashPoints(clean.world.faults.effects, { all });
  const visited: CrashPoint[] = [];
  for (const crash of points) {
    const { world } = await run(scenario, { seed: crashSeed, crash });
    if (world.faults.struck) visited.push(crash);
  }
  return crashLedger(clean.world.faults.effects, visited);
}

/** Seeds take the scenarios in turn, and decide everything else. */
async function stormAll(
  { firstSeed, seeds }: Job & { kind: "storm" | "drivers" },
  among: readonly Scenario[],
  run: Run,
): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const scenario = among[seed % among.length];
    if (scenario !== undefined) await run(scenario, { seed, stormy: true, place: seed % 7 === 0 ? "host" : "pod" });
  }
}

/**
 * Seeds take the scenarios in turn: where a process ends at one of its effects in fair weather, and the next run of it,
 * too.
 * @returns how many such runs there were
 */
async function crashPairs({ firstSeed, seeds }: Job & { kind: "pairs" }, run: Run): Promise<number> {
  let pairs = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const scenario = scenarios[seed % scenarios.length];
    if (scenario === undefined) continue;
    const random = new SeededRandom(seed, "pairs");
    const input: RunInput = { seed, place: seed % 7 === 0 ? "host" : "pod" };
    const clean = await run(scenario, input);
    for (let i = 0; i < pairsOf.firsts && clean.error === undefined; i++) {
      const first = someCrash(clean.world.faults.effects, random);
      const once = await run(scenario, { ...input, crash: first });
      const effects = once.error === undefined ? effectsAfter(once.world.faults.effects, first.effect) : [];
      for (const crash of somePairs(first, { effects, most: pairsOf.seconds, random })) {
        const { world } = await run(scenario, { ...input, crash });
        if (world.faults.struck) pairs++;
      }
    }
  }
  return pairs;
}

/** Seeds tell stories of their own, every other one in fair weather: then it has to end as the story says, exactly. */
async function tellStories({ firstSeed, seeds }: Job & { kind: "stories" }, run: Run): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const story = randomStories[seed % randomStories.length];
    if (story !== undefined) await run(story, { seed, stormy: seed % 4 >= 2 });
  }
}

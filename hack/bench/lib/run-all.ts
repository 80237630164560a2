import { join } from "node:path";
import { messageOf } from "../../../src/errors.ts";
import { peerSample } from "../peer/run.ts";
import { meterNoise } from "../report/noise.ts";
import { type Row, rowsOf, type Sample } from "../report/row.ts";
import { startThroughApi, type ThroughApi } from "../through-api/through-api.ts";
import type { Benchmark, Scenario, Tools } from "./benchmark.ts";
import type { BenchOptions } from "./options.ts";
import type { Result } from "./result.ts";

export interface RunAllInput {
  readonly options: BenchOptions;
  /** A folder on a disk. */
  readonly disk: string;
  /** The program that measures kubelet's volume manager. */
  readonly peer: string | undefined;
  readonly report: (line: string) => void;
}

interface Entry {
  readonly benchmark: string;
  readonly scenario: Scenario;
  readonly ours: Sample[];
  readonly kubelet: Sample[];
}

/**
 * Runs everything, round by round, the two sides of each scenario one right after the other and in turns: what else the
 * machine has to do then meets both.
 */
export async function runAll(benchmarks: readonly Benchmark[], input: RunAllInput): Promise<Result> {
  const { options, disk, peer, report } = input;
  if (peer === undefined) report("PEER is not set: kubelet's column stays empty");
  const entries: Entry[] = benchmarks.flatMap(({ name, scenarios }) =>
    scenarios(options)
      .filter((scenario) => isWanted(scenario, options))
      .map((scenario) => ({ benchmark: name, scenario, ours: [], kubelet: [] })),
  );
  const noise = meterNoise(disk);
  const failures: string[] = [];
  let started: Promise<ThroughApi> | undefined;
  let clusters = 0;
  const tools: Tools = {
    agent: { directory: disk },
    throughApi() {
      started ??= startThroughApi(join(disk, `cluster-${clusters++}`), report);
      return started;
    },
  };
  const stopCluster = async () => {
    const stopping = started;
    started = undefined;
    await (await stopping)?.stop();
  };
  for (let round = 0; round < options.runs; round += 1) {
    const peers = new Map<string, Promise<Sample>>();
    for (const entry of entries) {
      const { scenario, benchmark } = entry;
      if (scenario.long && round > 0) continue;
      report(`round ${round + 1}/${options.runs}: ${benchmark}, ${scenario.name}, ${scenario.scope}`);
      noise.sample();
      const ours = async () => void entry.ours.push(await scenario.ours(tools));
      const kubelet = async () => {
        if (peer === undefined || scenario.kubelet === undefined) return;
        const key = scenario.kubelet.join(" ");
        const sample = peers.get(key) ?? peerSample(peer, scenario.kubelet);
        peers.set(key, sample);
        entry.kubelet.push(await sample);
      };
      const sides = (round % 2 === 0 ? [ours, kubelet] : [kubelet, ours]).map((side) => async () => {
        try {
          await side();
        } catch (error) {
          // The others are worth having.
          failures.push(`${benchmark}, ${scenario.name}, ${scenario.scope}: ${messageOf(error)}`);
          report(`failed: ${messageOf(error)}`);
          // What it left would be in the way.
          await stopCluster().catch((failure: unknown) => report(messageOf(failure)));
        }
      });
      if (scenario.together) await Promise.all(sides.map((side) => side()));
      else for (const side of sides) await side();
    }
  }
  noise.sample();
  await stopCluster();
  return { noise: noise.end(), failures, rows: entries.flatMap(rows) };
}

function isWanted({ name, scope, pods }: Scenario, { pods: only, only: text }: BenchOptions): boolean {
  return (only === undefined || only.includes(pods)) && (text === undefined || `${name}, ${scope}`.includes(text));
}

function rows({ benchmark, scenario, ours, kubelet }: Entry): Row[] {
  const of = { benchmark, scenario: scenario.name, scope: scenario.scope };
  return rowsOf(of, scenario.measures, { ours, kubelet });
}

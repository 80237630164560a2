import type { Options } from "../in-agent/scenarios.ts";
import type { Measure, Sample, Scope } from "../report/row.ts";
import type { ThroughApi } from "../through-api/through-api.ts";
import type { BenchOptions } from "./options.ts";

/** One comparison: what of ours, beside which run of kubelet's volume manager. */
export interface Scenario {
  readonly name: string;
  readonly scope: Scope;
  readonly pods: number;
  readonly measures: readonly Measure[];
  readonly ours: (tools: Tools) => Promise<Sample>;
  /** Arguments of the peer's program; the same arguments are run once a round, whatever scopes they serve. */
  readonly kubelet?: readonly string[];
  /** Takes minutes: is run once. */
  readonly long?: true;
  /** Both sides wait most of the time, so they may do so together. */
  readonly together?: true;
}

export interface Tools {
  /** How the agent alone is started. */
  readonly agent: Options;
  /** The cluster, started for whoever asks first. */
  throughApi(): Promise<ThroughApi>;
}

export interface Benchmark {
  readonly name: string;
  scenarios(options: BenchOptions): readonly Scenario[];
}

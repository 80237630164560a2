import type { Taken } from "./resources-of.ts";

/** What one run of one size has shown. Times are in milliseconds. */
export interface ScaleFigures {
  readonly nodes: number;
  readonly pods: number;
  readonly claims: number;
  readonly intents: number;
  readonly commit: string;
  /** From the start of the process. */
  readonly cachesFilledMs: number;
  readonly leadingMs: number;
  /** How often it came to lead until it was killed: more than once says that it could not renew its Lease in time. */
  readonly terms: number;
  /** Of the event loop, until it was killed. */
  readonly longestTurnMs: number;
  readonly intentsWrittenMs: number;
  readonly mountedMs: number;
  readonly filling: Taken;
  readonly atRest: Taken & { readonly seconds: number; readonly requests: Requests };
  /** Of pods that start and stop, by 1 pod. */
  readonly life?: LifeFigures;
  readonly restart?: RestartFigures;
  readonly requests: Requests;
}

export interface LifeFigures {
  readonly pods: number;
  readonly observed: Quantiles;
  readonly managed: Quantiles;
  readonly requestsAPod: Requests;
  readonly writesAPod: number;
  readonly cpuMsAPod: number;
}

export interface RestartFigures {
  readonly cachesFilledMs: number;
  readonly leadingMs: number;
  /** Until what had come and gone meanwhile was written. */
  readonly caughtUpMs: number;
  readonly terms: number;
  readonly longestTurnMs: number;
  readonly peakMiB: number;
  readonly cpuSeconds: number;
}

export type Requests = { readonly [what: string]: number };

export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** PURE. By nearest rank. */
export function quantilesOf(all: readonly number[]): Quantiles {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** PURE. What was asked between two counts; what was not is left out. */
export function requestsBetween(before: Requests, after: Requests): Requests {
  const changed = Object.entries(after).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, count]) => count > 0));
}

const writing = /^(?:create|update|patch|delete) (?!leases|events)/;

/** PURE. Writes of what a person would look at: without Leases, which are for the leader, Events, and dry runs. */
export function writesIn(requests: Requests): number {
  return Object.entries(requests).reduce((sum, [what, count]) => (writing.test(what) ? sum + count : sum), 0);
}

/** PURE. Each divided by the number of pods. */
export function perPod(requests: Requests, pods: number): Requests {
  return Object.fromEntries(Object.entries(requests).map(([what, count]) => [what, Number((count / pods).toFixed(2))]));
}

/** PURE. The rows of one size, for a table beside others. */
function rowsOf(f: ScaleFigures): readonly (readonly [string, string])[] {
  const seconds = (ms: number | undefined) => (ms === undefined ? "–" : `${(ms / 1000).toFixed(1)} s`);
  const ms = (value: number | undefined) => (value === undefined ? "–" : `${Math.round(value)} ms`);
  const mib = (value: number | undefined) => (value === undefined ? "–" : `${value} MiB`);
  const count = (value: number) => value.toLocaleString("en");
  return [
    ["nodes × pods", `${count(f.nodes)} × ${count(f.pods / f.nodes)}`],
    ["claims", count(f.claims)],
    ["intents", count(f.intents)],
    ["process begun → caches filled", seconds(f.cachesFilledMs)],
    ["→ all intents written", seconds(f.intentsWrittenMs)],
    ["→ all granted and mounted", seconds(f.mountedMs)],
    ["processor time until then", `${Math.round(f.filling.cpuSeconds)} s`],
    ["memory (RSS), the most", mib(f.filling.peakMiB)],
    ["memory (RSS), at rest", mib(f.atRest.rssMiB)],
    ["processor time at rest", `${((f.atRest.cpuSeconds / f.atRest.seconds) * 60).toFixed(1)} s/min`],
    ["times that it came to lead", count(f.terms)],
    ["longest turn of its event loop", ms(f.longestTurnMs)],
    ["writes at rest, but the leader's Lease", count(writesIn(f.atRest.requests))],
    ["pod scheduled → intent, Observe: p50 / p99", `${ms(f.life?.observed.p50)} / ${ms(f.life?.observed.p99)}`],
    ["pod scheduled → intent, our driver: p50 / p99", `${ms(f.life?.managed.p50)} / ${ms(f.life?.managed.p99)}`],
    ["writes a pod's life", f.life === undefined ? "–" : f.life.writesAPod.toFixed(1)],
    ["processor time a pod's life", f.life === undefined ? "–" : ms(f.life.cpuMsAPod)],
    ["killed, started again → caches filled", seconds(f.restart?.cachesFilledMs)],
    ["→ caught up", seconds(f.restart?.caughtUpMs)],
    [
      "longest turn, and times that it came to lead",
      f.restart ? `${ms(f.restart.longestTurnMs)}, ${f.restart.terms}` : "–",
    ],
    ["memory (RSS), the most after it", mib(f.restart?.peakMiB)],
  ];
}

/** PURE. Markdown. */
export function tableOf(all: readonly ScaleFigures[]): string {
  const columns = all.map(rowsOf);
  const lines = (columns[0] ?? []).map(([name], row) => [name, ...columns.map((column) => column[row]?.[1] ?? "–")]);
  const head = ["figure", ...all.map(({ nodes }) => `${nodes.toLocaleString("en")} nodes`)];
  const rule = head.map((_, index) => (index === 0 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

import type { Noise } from "../../report/noise.ts";
import type { Way } from "./agent.ts";
import type { ChangeFigures } from "./changes.ts";
import type { ConvergedFigures, ConvergeFigures } from "./converge.ts";
import { fitOf } from "./fit.ts";
import type { GrownFigures } from "./grow.ts";
import type { HerdFigures } from "./herd.ts";

export interface SizeFigures {
  readonly way: Way;
  readonly agents: number;
  readonly grown: GrownFigures;
  readonly changes?: ChangeFigures;
  readonly herd?: HerdFigures;
  readonly converge?: ConvergeFigures;
  /** Of the agents' processes, at the end. */
  readonly agentsMiB: number;
}

export interface AgentsFigures {
  readonly commit: string;
  readonly noise: Noise;
  readonly volumes: number;
  readonly sizes: readonly SizeFigures[];
  /** What ended a way before its last size, as the error said it. */
  readonly failures: readonly { readonly way: Way; readonly error: string }[];
}

/** PURE. Markdown: a column for each way and size. */
export function tableOf({ sizes }: AgentsFigures): string {
  const columns = sizes.map(rowsOf);
  const names = [...new Set(columns.flatMap((rows) => rows.map(([name]) => name)))];
  const head = ["figure", ...sizes.map(({ way, agents }) => `${way}, ${agents.toLocaleString("en")}`)];
  const rule = head.map((_, index) => (index === 0 ? "---" : "--:"));
  const lines = names.map((name) => [name, ...columns.map((rows) => new Map(rows).get(name) ?? "–")]);
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

type Row = readonly [string, string];

function rowsOf({ grown, changes, herd, converge }: SizeFigures): readonly Row[] {
  return [
    ["server's memory (RSS) with all of them connected", mib(grown.idle.rssMiB)],
    ["server's processor time at rest", `${((grown.idle.cpuSeconds / grown.idle.seconds) * 60).toFixed(1)} s/min`],
    ...(changes === undefined ? [] : changeRows(changes)),
    ...(herd === undefined ? [] : herdRows(herd)),
    ...(converge === undefined ? [] : convergeRows(converge)),
  ];
}

function changeRows({ seen, cpuMsAChange, requests }: ChangeFigures): Row[] {
  const writes = Object.entries(requests).filter(([what]) => /^(?:POST|PUT|PATCH|DELETE) (?!leases)/.test(what));
  return [
    ["spec written → at the agent: p50", ms(seen.p50)],
    ["spec written → at the agent: p99", ms(seen.p99)],
    ["server's processor time of 1,000 changes", `${cpuMsAChange.toFixed(1)} s`],
    ["writes of a change", writes.reduce((sum, [, count]) => sum + count, 0).toFixed(1)],
  ];
}

function herdRows(herd: HerdFigures): Row[] {
  return [
    ["server killed → ready again", s(herd.readyMs)],
    ["→ every agent is back", s(herd.connectedMs)],
    ["server's processor time until then", `${herd.server.cpuSeconds.toFixed(1)} s`],
    ["its busiest second, and most memory", `${herd.server.peakCores.toFixed(1)} CPU, ${mib(herd.server.peakMiB)}`],
    ["watches asked for at once; executing; queued", [herd.peakOpening, herd.peakInFlight, herd.peakQueued].join("; ")],
    ["answers 429", String(herd.refused)],
  ];
}

function convergeRows({ nodes, set, rest, relabel, controllerPeakMiB }: ConvergeFigures): Row[] {
  return [
    ["set for all nodes → mounted on each", s(set.convergedMs)],
    ["→ counted as ready in the set's status", s(set.countedMs)],
    ["server's processor time of it", `${set.server.cpuSeconds.toFixed(0)} s`],
    ["writes for each node", writesANode(set, nodes)],
    ["writes at rest, but Leases", `${rest.writes} in ${rest.seconds} s`],
    ["half of the nodes relabelled → their intents gone", s(relabel.convergedMs)],
    ["writes for each of these nodes", writesANode(relabel, Math.floor(nodes / 2))],
    ["server's processor time of that", `${relabel.server.cpuSeconds.toFixed(0)} s`],
    ["controller's memory (RSS), the most", mib(controllerPeakMiB)],
  ];
}

/** PURE. Of our own kinds. */
function writesANode({ requests }: ConvergedFigures, nodes: number): string {
  const ours = Object.entries(requests).filter(([what]) => /^(?:POST|PUT|PATCH|DELETE) nodevolume(?!sets)/.test(what));
  return (ours.reduce((sum, [, count]) => sum + count, 0) / nodes).toFixed(1);
}

/** R² below which nothing is extrapolated: what does not grow with the number of agents, or is noise. */
const least = 0.8;

/**
 * PURE. What grows with the number of agents, as straight lines: of each way that was measured at three sizes and more.
 */
export function fitsOf({ sizes }: AgentsFigures): string {
  const figures: readonly (readonly [string, (one: SizeFigures) => number | undefined])[] = [
    ["server's processor time of a change, ms", ({ changes }) => changes?.cpuMsAChange],
    ["spec written → at the agent, p50, ms", ({ changes }) => changes?.seen.p50],
    ["server's memory (RSS), MiB", ({ grown }) => grown.idle.rssMiB],
    ["server's processor time until all are back, s", ({ herd }) => herd?.server.cpuSeconds],
  ];
  const rows = [...new Set(sizes.map(({ way }) => way))].flatMap((way) =>
    figures.flatMap(([name, of]) => {
      const points = sizes
        .filter((one) => one.way === way)
        .flatMap((one) => {
          const y = of(one);
          return y === undefined ? [] : [{ x: one.agents, y }];
        });
      const fit = fitOf(points);
      if (fit === undefined) return [];
      const at = (agents: number) => (fit.r2 < least ? "no line" : (fit.at0 + fit.perX * agents).toFixed(1));
      const perThousand = (fit.perX * 1000).toFixed(2);
      return [`| ${way} | ${name} | ${fit.at0.toFixed(1)} | ${perThousand} | ${fit.r2.toFixed(3)} | ${at(15_000)} |`];
    }),
  );
  const head = "| way | figure | at 0 | each 1,000 agents | R² | at 15,000, extrapolated |\n|---|---|--:|--:|--:|--:|";
  return rows.length === 0 ? "" : [head, ...rows].join("\n");
}

function s(value: number): string {
  return `${(value / 1000).toFixed(1)} s`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function mib(value: number): string {
  return `${value} MiB`;
}

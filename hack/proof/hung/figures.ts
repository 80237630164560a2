import { quantilesOf } from "../../bench/in-agent/quantiles.ts";
import { figuresOfOutputs } from "../steady/figures.ts";
import { afterWarmUp, type Sample, trendOf } from "../steady/trend.ts";
import type { Cycle } from "./hung-node.ts";
import type { Cycles, HungFigures } from "./run-hung.ts";

const kinds = ["mount", "unmount", "remount"] as const satisfies (keyof Cycle)[];
/** What is allowed: p99 of the others with servers stopped, by that with servers running. */
const worst = 1.1;
const mebi = 2 ** 20;
/** Bytes that the agent may gain while half of its volumes hang, along the line that fits best. */
const mostRise = 8 * mebi;

interface Row {
  readonly kind: (typeof kinds)[number];
  readonly before: number;
  readonly during: number;
  readonly ratio: number;
}

/** What came of it, for people. */
export function figuresOf(figures: HungFigures): string[] {
  const { seconds, cycles, control, most, waits, healedMs, rest, outputs, violations } = figures;
  const healed = quantilesOf(healedMs);
  const [before, after] = rest;
  return [
    `${seconds.toFixed(0)} s; ${cycles.before.length} cycles before, ${cycles.during.length} during`,
    `p99 in ms                ${["before", "during", "during / before"].map((it) => it.padEnd(9)).join(" ")}`,
    ...tableOf("", cycles),
    ...(control === undefined ? [] : tableOf("node beside it: ", control)),
    ...adjusted(figures).map(
      ({ kind, ratio }) => `${kind}: p99 during, by what the node beside it took: ${ratio.toFixed(2)}`,
    ),
    `hung volumes said: ${[...waits].map(([said, count]) => `${count} ${said}`).join(", ")}`,
    `most helpers at once: ${most.ofAVolume} of a volume, ${most.all} in all; ${most.requestsOfAServer} requests of a server`,
    `healed within: p50 ${healed.p50} ms, max ${healed.max} ms of ${healed.count}`,
    rssOf("RSS during, after the first fifth", figures.rss),
    ...(control === undefined ? [] : [rssOf("node beside it", figures.controlRSS)]),
    `before and after: ${before.fds} and ${after.fds} descriptors, ${before.threads} and ${after.threads} threads, ${before.children} and ${after.children} children`,
    ...figuresOfOutputs(outputs),
    `violations: ${violations.length}`,
    ...violations.map((violation) => `  ${violation}`),
  ];
}

function rssOf(title: string, samples: readonly Sample[]): string {
  const { mean, max, rise } = trendOf(afterWarmUp(samples));
  const inMebi = (bytes: number) => (bytes / mebi).toFixed(1);
  return `${title}: mean ${inMebi(mean)} MiB, max ${inMebi(max)}, the fit rises by ${inMebi(rise)}`;
}

/** What is about time and memory, and so on the machine: for the command alone. */
export function slownessOf(figures: HungFigures): string[] {
  const { rise } = trendOf(afterWarmUp(figures.rss));
  return [
    ...adjusted(figures)
      .filter(({ ratio }) => ratio > worst)
      .map(
        ({ kind, ratio }) =>
          `p99 of ${kind} is ${ratio.toFixed(2)} times that of servers that run: ${worst} is allowed`,
      ),
    ...(rise > mostRise ? [`RSS rises by ${(rise / mebi).toFixed(1)} MiB: ${mostRise / mebi} are allowed`] : []),
  ];
}

/** By the node beside it, which met the same machine at the same time; without one by the time before. */
function adjusted({ cycles, control }: HungFigures): Row[] {
  const own = rowsOf(cycles);
  if (control === undefined) return own;
  const others = rowsOf(control);
  return own.map((row, i) => ({ ...row, ratio: row.ratio / (others[i]?.ratio ?? 1) }));
}

function rowsOf({ before, during }: Cycles): Row[] {
  return kinds.map((kind) => {
    const p99 = (cycles: readonly Cycle[]) => quantilesOf(cycles.map((cycle) => cycle[kind])).p99;
    return { kind, before: p99(before), during: p99(during), ratio: p99(during) / p99(before) };
  });
}

function tableOf(title: string, cycles: Cycles): string[] {
  return rowsOf(cycles).map(({ kind, before, during, ratio }) =>
    [`${title}${kind}`.padEnd(24), before.toFixed(2).padEnd(9), during.toFixed(2).padEnd(9), ratio.toFixed(2)].join(
      " ",
    ),
  );
}

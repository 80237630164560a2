import { figuresOfOutputs } from "../steady/figures.ts";
import { afterWarmUp, type Trend, trendOf } from "../steady/trend.ts";
import type { Series, SoakFigures } from "./run-soak.ts";

const mebi = 2 ** 20;

/**
 * What is measured, in what unit people read it, and what the line that fits best may gain in the time after the
 * warm-up. The journal is a saw: it is written anew after a thousand lines, some 400 KiB
 * (src/agent/journal/journal.ts).
 */
const measures: Readonly<Record<keyof Series, { title: string; unit: number; mostRise: number }>> = {
  rssBytes: { title: "RSS, MiB", unit: mebi, mostRise: 8 * mebi },
  fds: { title: "descriptors at rest", unit: 1, mostRise: 1 },
  threads: { title: "threads at rest", unit: 1, mostRise: 1 },
  children: { title: "children at rest", unit: 1, mostRise: 1 },
  journalBytes: { title: "journal, KiB", unit: 1024, mostRise: 128 * 1024 },
};

/** What came of it, for people. */
export function figuresOf(figures: SoakFigures): string[] {
  const { seconds, kinds, changes, released, looks, rests, shown, outputs, violations } = figures;
  const header = ["first", "last", "max", "mean", "rise", "rise an hour"].map((it) => it.padEnd(9));
  return [
    `${changes} changes of ${kinds.join(", ")} in ${seconds.toFixed(0)} s; ${released} releases, ${rests} times at rest; ${looks} looks at the table`,
    `${"after the first fifth".padEnd(23)}${header.join(" ")}`,
    ...trendsOf(figures).map(({ name, trend }) => lineOf(name, trend)),
    ...figuresOfOutputs(outputs),
    `a server that refused it was shown a Secret ${shown} times`,
    `violations: ${violations.length}`,
    ...violations.map((violation) => `  ${violation}`),
  ];
}

/** What is not flat. A short run says little of it: for the command alone. */
export function growthOf(figures: SoakFigures): string[] {
  return trendsOf(figures).flatMap(({ name, trend }) => {
    const { title, unit, mostRise } = measures[name];
    if (trend.rise <= mostRise) return [];
    return `${title} rises by ${(trend.rise / unit).toFixed(1)}: ${mostRise / unit} is allowed`;
  });
}

function trendsOf({ series }: SoakFigures): { readonly name: keyof Series; readonly trend: Trend }[] {
  return Object.entries(series).map(([name, samples]) => ({
    name: name as keyof Series,
    trend: trendOf(afterWarmUp(samples)),
  }));
}

function lineOf(name: keyof Series, { first, last, max, mean, rise, perHour }: Trend): string {
  const { title, unit } = measures[name];
  const cells = [first, last, max, mean, rise, perHour].map((value) => (value / unit).toFixed(2).padEnd(9));
  return `${title.padEnd(23)}${cells.join(" ")}`;
}

import type { Noise } from "./noise.ts";
import type { Row } from "./row.ts";
import { median, ratio, spread } from "./statistics.ts";

/** PURE. All rows as Markdown: ours beside kubelet's, and how many times more kubelet takes. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.benchmark,
    row.scenario,
    row.scope,
    row.measure,
    cell(row.ours, row.unit),
    cell(row.kubelet, row.unit),
    ratioCell(row),
    row.wanted === undefined ? "" : `≥${row.wanted}×`,
  ]);
  const head = ["benchmark", "scenario", "scope", "figure", "ours", "kubelet", "ratio", "wanted"];
  const rule = head.map((_, i) => (i < 4 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** PURE. The machine, and how evenly it ran. */
export function noiseText(noise: Noise): string {
  const { cpus, kernel, node, fileSystem, loadBefore, loadAfter, stolen, calibrationMs } = noise;
  const load = (average: readonly number[]) => average.map((value) => value.toFixed(1)).join(" ");
  const loops = calibrationMs.length === 0 ? "none" : `${number(median(calibrationMs) ?? 0)} ms`;
  const evenness = spread(calibrationMs);
  return [
    `${cpus} CPUs, Linux ${kernel}, Node ${node}; journal and etcd on ${fileSystem}, which they wait for.`,
    `Load average ${load(loadBefore)} before, ${load(loadAfter)} after; ${(stolen * 100).toFixed(1)} % of the time stolen by the hypervisor.`,
    `The same loop ${calibrationMs.length} times between the runs: ${loops} in the middle` +
      (evenness === undefined ? "." : `, the slowest ${evenness.toFixed(1)} times the fastest${judgement(evenness)}.`),
  ].join("\n");
}

/** On a quiet machine the slowest loop takes up to a fifth longer. */
const quietSpread = 1.5;

function judgement(evenness: number): string {
  return evenness > quietSpread ? ": a noisy machine, believe ratios rather than times" : "";
}

function cell(sample: readonly number[], unit: string): string {
  const middle = median(sample);
  if (middle === undefined) return "–";
  const suffix = unit === "" ? "" : ` ${unit}`;
  const [low, high] = [Math.min(...sample), Math.max(...sample)];
  return sample.length === 1
    ? `${number(middle)}${suffix}`
    : `${number(middle)}${suffix} [${number(low)}..${number(high)}]`;
}

/** Of a count there is none. */
function ratioCell({ ours, kubelet, wanted, unit }: Row): string {
  const times = unit === "" ? undefined : ratio(ours, kubelet);
  if (times === undefined) return "";
  const text = `${times < 10 ? times.toFixed(1) : Math.round(times)}×`;
  return wanted !== undefined && times < wanted ? `**${text}**` : text;
}

/** Three digits are more than a noisy machine is good for. */
function number(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

import type { Judged } from "./judge.ts";
import type { Area, Seed } from "./seed.ts";

export interface Row {
  readonly seed: Seed;
  /** Undefined if it was not tried. */
  readonly judged: Judged | undefined;
}

const areas: readonly Area[] = ["planner", "executor", "journal", "attach", "other"];
const parts = areas.slice(0, 4);
const goal = 0.95;

/** PURE. The table of all faults, what came of the parts, of kubelet's bugs and of each law that was taken away. */
export function tableOf(rows: readonly Row[]): string[] {
  const lines = rows.map(({ seed, judged }) => {
    const by = seed.harmless !== undefined && judged?.by === undefined ? "(harmless)" : byOf(judged);
    const runs = judged?.runs === undefined ? "" : judged.runs > 0 ? `run ${judged.runs}` : "not by sim";
    return `${seed.area.padEnd(9)} ${by.padEnd(10)} ${runs.padEnd(10)} ${seed.edits[0]?.file}: ${seed.name}`;
  });
  return [...lines, "", ...summaryOf(rows)];
}

function byOf(judged: Judged | undefined): string {
  return judged === undefined ? "not tried" : (judged.by ?? "SURVIVED");
}

function summaryOf(rows: readonly Row[]): string[] {
  const lines = areas.map((area) => `${area.padEnd(9)} ${scoreOf(rows.filter(({ seed }) => seed.area === area))}`);
  const main = rows.filter(({ seed }) => parts.includes(seed.area));
  const removed = rows.filter(({ seed }) => seed.removes !== undefined);
  const unseen = removed.filter(({ judged }) => (judged?.runs ?? 0) === 0);
  return [
    ...lines,
    `the four parts: ${scoreOf(main)}`,
    `all: ${scoreOf(rows)}`,
    `bugs of kubelet: ${scoreOf(rows.filter(({ seed }) => seed.kubelet !== undefined))}`,
    `laws and rules taken away: ${removed.length - unseen.length} of ${removed.length} noticed by the simulator`,
    ...unseen.map(({ seed, judged }) => `  ${judged?.runs === undefined ? "not asked" : "not noticed"}: ${seed.name}`),
    ...survivors(rows).map(({ seed, judged }) => `SURVIVED: ${seed.edits[0]?.file}: ${seed.name} (${judged?.what})`),
  ];
}

/** PURE. Those that nobody noticed, and that are not known to be harmless. */
export function survivors(rows: readonly Row[]): Row[] {
  return rows.filter(({ seed, judged }) => judged !== undefined && judged.by === undefined && !seed.harmless);
}

/** PURE. Whether enough of what was tried was noticed. */
export function isEnough(rows: readonly Row[]): boolean {
  const tried = rows.filter(({ judged }) => judged !== undefined);
  return tried.filter(({ judged }) => judged?.by !== undefined).length >= goal * tried.length;
}

function scoreOf(rows: readonly Row[]): string {
  const tried = rows.filter(({ judged }) => judged !== undefined);
  const count = (by: Judged["by"]) => tried.filter(({ judged }) => judged?.by === by).length;
  const caught = tried.length - count(undefined);
  const percent = tried.length === 0 ? 0 : Math.floor((1000 * caught) / tried.length) / 10;
  const who = `unit ${count("unit")}, laws ${count("laws")}, real ${count("real")}, sim ${count("sim")}`;
  const rest = rows.length === tried.length ? "" : `; ${rows.length - tried.length} not tried`;
  return `${caught} of ${tried.length} noticed (${percent} %): ${who}${rest}`;
}

import type { CrashPoint, Effect, Moment } from "./faults.ts";
import { kindOfEffect } from "./faults.ts";

/** One effect of a scenario, and where runs have ended at it. */
export interface LedgerEntry {
  readonly effect: number;
  readonly process: string;
  readonly what: string;
  readonly killed: readonly Moment[];
  readonly rebooted: readonly Moment[];
  /** Boundaries at which no process has ended, by now. */
  readonly unvisited: readonly Moment[];
}

/**
 * Every boundary of a scenario's effects, and which of them the points visit. The end before an effect that follows
 * another one of its process is the same as the end after that one.
 */
export function crashLedger(effects: readonly Effect[], points: readonly CrashPoint[]): LedgerEntry[] {
  const at = (effect: number, ending: CrashPoint["ending"]) =>
    points.filter((point) => point.effect === effect && point.ending === ending).map(({ moment }) => moment);
  return effects.map(({ process, what, canTear }, index) => {
    const effect = index + 1;
    const killed = at(effect, "kill");
    const follows = effects[index - 1]?.process === process && at(index, "kill").includes("after");
    const visited = new Set<Moment>([...killed, ...(follows ? (["before"] as const) : [])]);
    const all: readonly Moment[] = canTear ? ["before", "torn", "after"] : ["before", "after"];
    const unvisited = all.filter((moment) => !visited.has(moment));
    return { effect, process, what, killed, rebooted: at(effect, "reboot"), unvisited };
  });
}

/** For people: one line for each kind of effect, with how often a process has ended there. */
export function summaryOf(ledger: readonly LedgerEntry[]): string {
  const byKind = Map.groupBy(ledger, ({ what }) => kindOfEffect(what));
  const lines = [...byKind].map(([kind, entries]) => {
    const count = (moments: readonly Moment[], moment: Moment) => (moments.includes(moment) ? 1 : 0);
    const sum = (of: (entry: LedgerEntry) => number) => entries.reduce((total, entry) => total + of(entry), 0);
    const killed = (["before", "torn", "after"] as const).map((m) => `${m} ${sum((e) => count(e.killed, m))}`);
    const reboots = sum(({ rebooted }) => rebooted.length);
    const missed = sum(({ unvisited }) => unvisited.length);
    const last = missed === 0 ? "" : `, ${missed} UNVISITED`;
    return `    ${kind}: ${entries.length} effects; ended ${killed.join(", ")}, with the machine ${reboots}${last}`;
  });
  return lines.sort().join("\n");
}

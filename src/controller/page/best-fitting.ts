import type { Intent } from "../model/projections.ts";

/** A volume that fits a search. */
export interface Fitting {
  readonly intent: Intent;
  /** How well it fits: more than 0. */
  readonly score: number;
  /** Of how it stands: the worse, the larger. */
  readonly weight: number;
}

/** The best matches of a search, collected without keeping the others. */
export interface BestFitting {
  add(one: Fitting): void;
  /** The best of what is meant, the first of them first, and how many others are meant. */
  found(): { readonly best: readonly Fitting[]; readonly omitted: number };
}

/**
 * PURE. Volumes that fit, of which no more than `2 × most` are held: what one `add` does takes the same time however
 * many there were. Those are meant that have half of the best score or more.
 */
export function createBestFitting(most: number): BestFitting {
  let held: Fitting[] = [];
  const counts = new Map<number, number>();

  function keepBest(): void {
    held = held.sort(bestFirst).slice(0, most);
  }

  return {
    add(one) {
      counts.set(one.score, (counts.get(one.score) ?? 0) + 1);
      held.push(one);
      if (held.length >= 2 * most) keepBest();
    },
    found() {
      keepBest();
      // What fits far better than the rest is what is meant.
      const least = (held[0]?.score ?? 0) / 2;
      const best = held.filter(({ score }) => score >= least);
      let meant = 0;
      for (const [score, count] of counts) if (score >= least) meant += count;
      return { best, omitted: meant - best.length };
    },
  };
}

/** Of equal ones the worst first; then in an order that is the same in each answer. */
function bestFirst(a: Fitting, b: Fitting): number {
  const byName = a.intent.metadata.name < b.intent.metadata.name ? -1 : 1;
  return b.score - a.score || b.weight - a.weight || byName;
}

import { expect } from "chai";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { createBestFitting, type Fitting } from "../../../../src/controller/page/best-fitting.ts";
import { Randomly } from "../../../lib/builders/randomly.ts";

describe("createBestFitting", () => {
  it("finds what sorting of everything finds, whatever comes first", () => {
    for (const [seed, count, scores] of [
      [1, 0, 9],
      [2, 1, 9],
      [3, 9, 3],
      [4, 10, 2],
      [5, 11, 1],
      [6, 400, 90],
      [7, 400, 3],
      [8, 1_000, 12],
      [9, 1_000, 1],
    ] as const) {
      const all = fittingsOf(seed, count, scores);
      const best = createBestFitting(10);
      for (const one of all) best.add(one);
      expect(best.found(), `seed ${seed}`).to.deep.equal(bySorting(all, 10));
    }
  });
});

/** So many, in no order, with scores of 1 to `scores`. */
function fittingsOf(seed: number, count: number, scores: number): Fitting[] {
  const random = new Randomly(seed);
  return Array.from({ length: count }, (_, at) => ({
    intent: { metadata: { name: `${random.below(1e6)}-${at}` } } as Intent,
    score: 1 + random.below(scores),
    weight: random.below(4),
  }));
}

/** Everything is held until the end. */
function bySorting(all: readonly Fitting[], most: number) {
  const least = all.reduce((best, one) => Math.max(best, one.score), 0) / 2;
  const meant = all
    .filter((one) => one.score >= least)
    .sort((a, b) => {
      const byName = a.intent.metadata.name < b.intent.metadata.name ? -1 : 1;
      return b.score - a.score || b.weight - a.weight || byName;
    });
  return { best: meant.slice(0, most), omitted: Math.max(0, meant.length - most) };
}

import { letters, type Standing, standings } from "./overview.ts";

/** Standings of one row on all nodes, as weights: 0 has nothing there, 1 is the best. */
export type Weights = Uint8Array;

/** PURE. The better, the smaller. */
export function weightOf(standing: Standing): number {
  return standings.indexOf(standing) + 1;
}

const letterOf = [".", ...standings.map((standing) => letters[standing])];

/** PURE. Run by run: "12r1b30r". */
export function lineOf(weights: Weights): string {
  return runs(weights.length, (at) => letterOf[weights[at] ?? 0] ?? ".");
}

/** PURE. Runs of equal letters, each with its length before it. */
export function runs(length: number, letterAt: (at: number) => string): string {
  let line = "";
  for (let from = 0; from < length; ) {
    const letter = letterAt(from);
    let to = from + 1;
    while (to < length && letterAt(to) === letter) to += 1;
    line += `${to - from}${letter}`;
    from = to;
  }
  return line;
}

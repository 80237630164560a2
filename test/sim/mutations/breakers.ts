import type { Mutant } from "../../laws/mutants/mutant.ts";
import { mutants } from "../../laws/mutants/mutants.ts";
import { runMutant } from "../../laws/mutants/run-mutant.ts";
import { mutations } from "./list.ts";
import type { Edit, Hint, Mutation } from "./mutation.ts";

/** One thing of the product that is broken on purpose. */
export interface Breaker {
  readonly law: string;
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Whether the simulator must notice it; else the tests of its law must. */
  readonly bySimulator: boolean;
  /** A run to try first, where a search is not likely to come upon one. */
  readonly hint?: Hint | undefined;
  /** Runs the tests of its law, where there is one that is about it. @returns whether it noticed */
  runLaw?(): Promise<boolean>;
}

/** Each of these is broken, in one way at least. */
export const lawsToBreak: readonly string[] = [
  ...Array.from({ length: 11 }, (_, i) => `L${i + 1}`),
  "journal before effect",
];

/** What the laws are tested with, and what the simulator is. */
export const breakers: readonly Breaker[] = [...mutations.map(ofSimulator), ...mutants.map(ofLaws)];

function ofSimulator({ law, name, also, file, from, to, noticedBy }: Mutation): Breaker {
  const edits = [{ file, from, to }, ...(also === undefined ? [] : [also])];
  return { law, name, edits, bySimulator: true, hint: noticedBy?.crash?.next && noticedBy };
}

function ofLaws(mutant: Mutant): Breaker {
  const { law, what, file, from, to } = mutant;
  return {
    law,
    name: what,
    edits: [{ file, from, to }],
    bySimulator: false,
    runLaw: async () => (await runMutant(mutant)).failures.length > 0,
  };
}

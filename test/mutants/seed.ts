import type { Edit, Hint } from "../sim/mutations/mutation.ts";

/** The parts of the product that a fault is put into. */
export type Area = "planner" | "executor" | "journal" | "attach" | "other";

/** One fault that is put into the product on purpose. */
export interface Seed {
  readonly area: Area;
  /** What the broken product does: "takes …", "forgets …". */
  readonly name: string;
  /** Each text is in its file exactly once. */
  readonly edits: readonly Edit[];
  /**
   * The bug of kubelet, or of its attach/detach controller, of which it is the translation: issues of
   * kubernetes/kubernetes.
   */
  readonly kubelet?: string;
  /** A law or rule that is taken away whole: the simulator has to notice, whoever else does. */
  readonly removes?: string;
  /** The test of a law that is about it: file test/laws/<law>-*.test.ts, and a part of the title. */
  readonly law?: { readonly law: string; readonly test: string; readonly runs?: number };
  /** File of a unit test that notices it, and quickly. */
  readonly test?: string;
  /** A run of the simulator that notices it. */
  readonly noticedBy?: Hint;
  /** Why nobody has to notice it. */
  readonly harmless?: string;
}

/** What is broken, the text to replace, what instead, and what else is known of it. */
export type Row = readonly [
  name: string,
  from: string,
  to: string,
  more?: Pick<Seed, "kubelet" | "test" | "noticedBy" | "harmless">,
];

/** The faults of one file. */
export function seedsOf(area: Area, file: string, rows: readonly Row[]): Seed[] {
  return rows.map(([name, from, to, more]) => ({ area, name, edits: [{ file, from, to }], ...more }));
}

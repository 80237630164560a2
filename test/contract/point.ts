import type { Bench } from "./bench.ts";
import type { Case } from "./case.ts";

/** Something that every plugin keeps to: one test of each case. */
export interface Point {
  /** Its column in docs/plugin-results.md. */
  readonly name: string;
  /** What holds. */
  readonly title: string;
  /** Of which cases it can be asked; of all if not given. */
  asks?(of: Case): boolean;
  /** Whether it needs a node that nobody else has, because it makes its own or leaves it as it is to nobody else. */
  readonly alone?: true;
  /** Whether it takes minutes where much else goes on. */
  readonly slow?: true;
  /**
   * @param bench on which the volume may be set up already
   * @returns how much was tried, if that differs from case to case
   */
  holds(bench: Bench): Promise<string | undefined> | Promise<void>;
}

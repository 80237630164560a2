/** The agent with one thing broken on purpose, and the law that has to notice. */
export interface Mutant {
  /** The law's number, or what else its file is named by. */
  readonly law: string;
  /** A part of the title of the test that has to fail, of that law: the only one that is run. */
  readonly test: string;
  /** What is broken. */
  readonly what: string;
  /** From the root of the repository. */
  readonly file: string;
  /** A text that the file has exactly once. */
  readonly from: string;
  readonly to: string;
  /** Worlds to try, if it takes more than usual. */
  readonly runs?: number;
}

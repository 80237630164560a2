/**
 * Data that a plugin needs to undo what it did besides the mount on the staging path. It is in the journal, because
 * spec and API server may be gone by then. No secrets.
 */
export type TearDownData = { readonly [name: string]: string };

/** Programs of vendors on the node (flexvolume). */
export interface Vendors {
  /** Where they are, as the node sees it. */
  readonly directory: string;
  /** What is known of each, by its path, for as long as the agent runs. Changed in place. */
  readonly known: Map<string, unknown>;
}

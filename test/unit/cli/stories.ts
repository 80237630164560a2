import type { Explanation } from "../../../src/explain/finding.ts";

/** Worlds in which something is in the way of a volume, each with what is said of it. */
export type Stories = { readonly [title: string]: () => Explanation };

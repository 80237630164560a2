/** What the page is sent of the whole cluster: small where all is well, and bounded where nothing is. */

/** How a volume on a node stands, from the best to the worst. Its place in the list is its weight. */
export const standings = ["ready", "suspended", "differs", "waiting", "drifted", "unknown", "blocked"] as const;

/**
 * - ready: what is wanted is there.
 * - suspended: repair is suspended, and it is not as wanted.
 * - differs: it is only observed, and is not as its set says.
 * - waiting: it ends by itself or by somebody else's work.
 * - drifted: the mount table is not as the agent left it.
 * - unknown: nobody can say; its agent is silent.
 * - blocked: somebody must change something.
 */
export type Standing = (typeof standings)[number];

/** One letter a node in `lines`: that of its worst standing; "." has nothing there. */
export const letters: { readonly [standing in Standing]: string } = {
  ready: "r",
  suspended: "s",
  differs: "o",
  waiting: "w",
  drifted: "d",
  unknown: "u",
  blocked: "b",
};

/** The page's first view: every node and set by the state of its volumes. */
export interface Overview {
  /** Of the controller. */
  readonly version: string;
  /** Why what is shown may be old or not all: the caches are not filled, or the API server is not reached. */
  readonly stale?: string;
  readonly totals: Totals;
  /** Names, in the order that people count in: node-2 before node-10. */
  readonly nodes: readonly string[];
  /** By node: its volumes, and those of them that are ready. */
  readonly volumes: readonly number[];
  readonly ready: readonly number[];
  /** The worst of each node, run by run ("12r1b30r"). */
  readonly line: string;
  /** Each set, and what is of none; the worst first. */
  readonly rows: readonly Row[];
  /** The worst first. */
  readonly troubles: readonly Trouble[];
  /** Troubles that are not listed. */
  readonly omitted: number;
  /** Of all troubles, also those that are not listed; the most frequent first. */
  readonly causes: readonly Cause[];
}

/** Numbers of volumes by state, and of what else is wrong. */
type Totals = { readonly [standing in Standing]: number } & {
  readonly volumes: number;
  readonly orphans: number;
  /** Nodes whose agent is silent, or that are not well as such. */
  readonly badNodes: number;
  /** Sets that say of themselves why they cannot be had, where no volume says it. */
  readonly badSets: number;
};

/** A line of the picture: one set on all nodes. */
export interface Row {
  readonly name: string;
  readonly kind: "set" | "pods" | "kubelet" | "orphans";
  readonly volumes: number;
  readonly ready: number;
  /** As `line`; of orphans "x" where there is one. */
  readonly line: string;
}

/** One entry of the list of what is wrong. */
export interface Trouble {
  readonly kind: "volume" | "node" | "set" | "orphan";
  readonly state: Standing | "orphan";
  /** Place in `nodes`; none of a set. */
  readonly node?: number;
  /** The object's: intent, Node, NodeVolumeSet; of an orphan its path. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** Names of its sets. */
  readonly sets: readonly string[];
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
}

/** How many entries have the same state and reason. */
export interface Cause {
  readonly state: Trouble["state"];
  readonly reason: string;
  readonly count: number;
}

import type { LastError } from "../../api/types.gen.ts";
import type { Finding } from "../../explain/finding.ts";
import type { AgentState } from "../model/agent-state.ts";
import type { Standing } from "./overview.ts";

/**
 * What the page is sent of one volume on one node. Nothing of its source but its kind, and of pods no more than their
 * names.
 */
export interface VolumeDetails {
  readonly name: string;
  readonly volume: string;
  readonly node: string;
  readonly sets: readonly string[];
  readonly type: string;
  readonly mode: "Manage" | "Observe";
  readonly standing: Standing;
  readonly state: string;
  /** From what people see to its cause, as kubectl nvi explain says it. */
  readonly chain: readonly Finding[];
  readonly mounts: readonly Place[];
  readonly pods: readonly Place[];
  /** What Manage would do; of a volume that is only observed, or suspended. */
  readonly plan: readonly string[];
  readonly lastError?: LastError;
  readonly conditions: readonly Said[];
  /** The newest first. */
  readonly history: readonly Step[];
  /** Why the history is missing: the API server was not reached. */
  readonly notRead?: string;
  readonly commands: readonly string[];
}

/** Where it is to be, and whether it is. */
export interface Place {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  readonly drift?: string;
  readonly message?: string;
}

/** A condition, as the page shows it. `since` is the wall time of its last transition. */
interface Said {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

/** One entry of an intent's history. */
export interface Step {
  readonly time: string;
  readonly state: string;
  readonly reason: string;
  /** Milliseconds until the next one; none of the state that it is in. */
  readonly lastedMs?: number;
}

/** What the page is sent of one node. */
export interface NodeDetails {
  readonly name: string;
  /** The worst of all that is there. */
  readonly standing: Standing | "orphan";
  /** What is wrong with the node as such. */
  readonly chain: readonly Finding[];
  readonly agent: {
    readonly life: AgentState;
    readonly renewed?: string;
    readonly version?: string;
  };
  readonly volumes: readonly OnNode[];
  readonly orphans: readonly OrphanDetails[];
  readonly orphaned: number;
  readonly notRead?: string;
  readonly commands: readonly string[];
}

/** A volume of the node, the worst first. */
interface OnNode {
  readonly name: string;
  readonly volume: string;
  readonly sets: readonly string[];
  readonly standing: Standing;
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
}

/** An orphan of a node, as the page shows it. */
export interface OrphanDetails {
  readonly path: string;
  readonly reason: string;
  readonly kind?: string;
  readonly volume?: string;
  readonly since?: string;
  readonly message?: string;
  readonly remedy?: string;
  readonly reapAt?: string;
  readonly keptBecause?: string;
}

/** What the page is sent of a search. */
export interface Found {
  /** Those that fit best first, and no more than a person looks through. */
  readonly volumes: readonly FoundVolume[];
  /** Volumes that fit and are not listed. */
  readonly omitted: number;
}

/** One match of a search. */
export interface FoundVolume {
  readonly name: string;
  readonly volume: string;
  readonly node: string;
  readonly sets: readonly string[];
  readonly standing: Standing;
  readonly reason: string;
  /** `NAMESPACE/NAME` of the claim, and of each pod. */
  readonly claim?: string;
  readonly pods: readonly string[];
}

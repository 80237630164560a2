import type { VolumeSource } from "../../api/types.gen.ts";
import type { PodEntry } from "./pod-entry.ts";
import type { Intent, NodeInfo, SetEntry } from "./projections.ts";
import type { SetShare } from "./set-share.ts";
import type { IntentName, VolumeIdentity } from "./volume-identity.ts";
import type { WaitReason } from "./wait-reason.ts";

/** Everything that concerns one node. */
export interface NodeInput {
  readonly name: string;
  /** undefined: there is no such Node now. */
  readonly node: NodeInfo | undefined;
  /** All sets. */
  readonly sets: readonly SetEntry[];
  /** The intents of this node, also those that are being deleted. */
  readonly intents: readonly Intent[];
  readonly allowedPrefixes: readonly string[];
  /**
   * The pods of the node; undefined while not all of them are known: what intents have of them stays as it is (law L8).
   */
  readonly pods: NodePods | undefined;
  /** Whether the claim that a source names allows a set; undefined if it does, and if there is no such claim. */
  readonly consent: (set: string, source: VolumeSource) => SetConsent;
  /** Why the API server refused what was last written, by intent. */
  readonly refusals: ReadonlyMap<IntentName, string>;
}

/** What is known of the pods of a node. */
export interface NodePods {
  /** Those that were scheduled to it and have not ended. */
  readonly entries: readonly PodEntry[];
  /** Labels of a Namespace; undefined if there is none. */
  readonly labelsOf: (namespace: string) => { readonly [key: string]: string } | undefined;
  /** Whether there is such a claim; undefined while that is not known. */
  readonly hasClaim: (namespace: string, name: string) => boolean | undefined;
  /** Whether only one pod may use a volume: it is ReadWriteOncePod. */
  readonly isForOnePod: (source: VolumeSource) => boolean;
  /** The group that a claim's PersistentVolume asks for, if it does and is known. */
  readonly groupOf: (source: VolumeSource) => { readonly persistentVolume: string; readonly gid: number } | undefined;
}

/** What the claim of a source says of a set: undefined, that it may; `unknown`, while claims are not all known. */
export type SetConsent = WaitReason | "unknown" | undefined;

/**
 * One set on one node.
 * - frozen: nothing can be decided (the Node is missing, the set is not understood or gone): present mounts stay.
 * - leaving: present mounts are to be unmounted.
 * - absent: desired, and nothing is present. Written at once.
 * - outdated: the present part differs from the desired one. The rollout decides when it is written.
 * - current: the present part is the desired one.
 */
export interface SetOnNode {
  readonly set: string;
  readonly entry: SetEntry | undefined;
  readonly state: "frozen" | "leaving" | "absent" | "outdated" | "current";
  /** Whether the node counts for the set. */
  readonly selected: boolean;
  readonly identity: VolumeIdentity | undefined;
  readonly found: readonly SetShare[];
  readonly wanted: SetShare | undefined;
  /**
   * Whether the desired spec must not be written now, whatever the rollout decides: the present one stays exactly as it
   * is.
   */
  readonly held: boolean;
  /** The set that still has a path that this one waits for. */
  readonly waitsFor: string | undefined;
  readonly conflicts: readonly Conflict[];
  readonly obstacle: SetObstacle | undefined;
  readonly availability: Availability;
}

/** What keeps a set's change, or a part of it, from a node. */
export interface SetObstacle {
  readonly reason: "PathNotAllowed" | "IntentTooLarge" | "Invalid" | "ClaimNotAllowed";
  readonly message: string;
}

/** Why one set does not get its volume or path on a node: another set has it. */
export interface Conflict {
  /** The other set. */
  readonly with: string;
  /** The path that this set wants, and that of the other: the same one, or one is beneath the other. */
  readonly paths?: { readonly own: string; readonly other: string };
  /** The sets want one volume with different settings; or each wants a path that the other still has. */
  readonly over?: "settings" | "exchange";
}

/** How a set fares on one node, by what the node's agent reports of the intents that carry it. Pure. */
export interface Availability {
  /**
   * - available: the agent has observed the newest spec, and the set's own mounts and the volume have no problem.
   *   Problems of other sets' mounts of a shared volume do not count.
   * - unavailable: nothing is mounted, or the agent reports a problem, or there is no agent to report.
   * - unknown: the agent has not observed the newest spec, or cannot read its mount table. The mounts may well be in
   *   use.
   */
  readonly state: "available" | "unavailable" | "unknown";
  readonly drifted: boolean;
  /** Why it is not available. */
  readonly trouble?: Trouble;
}

/** Why a volume of a set is not available on a node. */
export interface Trouble {
  readonly reason: string;
  readonly message: string;
  /** Somebody must change something, and the agent says so of the newest spec. */
  readonly blocked: boolean;
}

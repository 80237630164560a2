import type { Reason } from "../../api/reasons.ts";
import type { NodeVolumeState } from "../../api/types.gen.ts";
import type { Transport } from "../../kube/client/transport.ts";
import type { Reflector, ReflectorDeps } from "../../kube/watch/reflector.ts";
import type { Cancel, System } from "../../ports.ts";
import type { IntentEntry } from "./intents.ts";

/** How an agent learns of its intents: it watches them, or their index in its NodeVolumeState (decision 0067). */
export type IntentsBy = "Watch" | "Index";

/** The intents of one node, the desired world, by whichever way. Reads begin with a quorum read (safety rule 4). */
export interface IntentSource
  extends Pick<Reflector<IntentEntry>, "store" | "start" | "stop" | "notSynced" | "upsertIfNewer"> {
  /** Why it is not told of changes although the API server answers, for people; undefined if it is told. */
  problem(): SourceProblem | undefined;
  /** One that is there and cannot be read, and why; undefined if there is none. Nobody knows then what it wants. */
  unread(): string | undefined;
  /** Tells each time that the API server answers again, which is not whenever one intent could be read after all. */
  onReached(told: () => void): Cancel;
  /** A write of ours to this intent may have been applied, or may still be: it is to be known what it is now. */
  doubt(name: string): void;
  /** Others may have written what this agent says, of any of them: it is to be known what is there now. */
  relist(): void;
}

/** Why the agent cannot know its intents. It goes to the status of the node's NodeVolumeState. */
export interface SourceProblem {
  readonly reason: Reason & ("IndexMissing" | "IndexTooLarge");
  readonly message: string;
}

/** Dependencies of both sources of intents (IntentsBy). */
export interface IntentSourceDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly nodeName: string;
  readonly by: IntentsBy;
  /** The node's own NodeVolumeState, as it is watched for other reasons, too. */
  readonly states: Reflector<NodeVolumeState>;
  /** Names of the volumes that the journal has a record of. */
  readonly onRecord: () => Iterable<string>;
  readonly onRestart: NonNullable<ReflectorDeps<IntentEntry>["onRestart"]>;
}

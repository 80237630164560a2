import { resource } from "../api/names.ts";
import type { Reason } from "../api/reasons.ts";
import type { NodeVolumeState } from "../api/types.gen.ts";
import { recordIn, stringIn } from "../kube/json.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../kube/reflector.ts";
import type { Transport } from "../kube/transport.ts";
import type { Cancel, System } from "../ports.ts";
import { reachedBy } from "./api-reached.ts";
import { IndexedIntents } from "./indexed-intents.ts";
import { type IntentEntry, understand } from "./intents.ts";

/**
 * How an agent hears of the intents of its node: it watches them, or the index of them in its NodeVolumeState (decision
 * 0067).
 */
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

export interface SourceProblem {
  readonly reason: Reason & ("IndexMissing" | "IndexTooLarge");
  readonly message: string;
}

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

export function intentSource(deps: IntentSourceDeps): IntentSource {
  return deps.by === "Index" ? new IndexedIntents(deps) : watchedIntents(deps);
}

function watchedIntents({ system, transport, nodeName, onRestart }: IntentSourceDeps): IntentSource {
  const intents: Reflector<IntentEntry> = createReflector<IntentEntry>({
    system,
    transport,
    onRestart,
    resource: resource.intents,
    fieldSelector: `spec.nodeName=${nodeName}`,
    project: (object) => (isOf(nodeName, object) ? understand(object, (name) => intents.store.get(name)) : undefined),
  });
  return {
    ...intents,
    problem: () => undefined,
    unread: () => undefined,
    onReached: (told) => reachedBy(intents, told),
    doubt: () => {}, // whatever becomes of a write, the watch shows it
    relist: () => {}, // and who has written
  };
}

/** Whatever was asked for: who stands between the API server and the agent could hand it those of another node. */
function isOf(nodeName: string, object: unknown): boolean {
  return stringIn(recordIn(object, "spec"), "nodeName") === nodeName;
}

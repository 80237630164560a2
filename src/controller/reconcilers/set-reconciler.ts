import { apiVersion, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { Writing } from "../intents/pending-writes.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { setLabel } from "../model/volume-identity.ts";
import type { PodCount } from "../sets/pod-count.ts";
import type { Rollout } from "../sets/rollout.ts";
import { decideRollout } from "../sets/rollout.ts";
import { setEvents } from "../sets/set-events.ts";
import { sameStatus, setStatus } from "../sets/set-status.ts";

/** Dependencies of the rollout and status of a set, and the end of a set. */
export interface ReconcileSetDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly recorder: EventRecorder;
  readonly gatherer: Gatherer;
  readonly writing: Writing;
  readonly hasNode: (name: string) => boolean;
  readonly podCount: PodCount;
  /** Which admission policies are not in force, in a sentence. */
  readonly unguarded: () => string | undefined;
  /** The set is looked at again after so many milliseconds. */
  readonly later: (set: string, ms: number) => void;
  readonly upsert: (raw: unknown) => void;
  /** The nodes of a set that may be updated now, in place of those before. */
  readonly admit: (set: string, nodes: ReadonlySet<string>) => void;
}

/** Not an error: the set is asked again when one of its intents changes, or after `againInMs` milliseconds. */
export class StillInUse extends Error {
  override readonly name = "StillInUse";
  readonly againInMs: number | undefined;

  constructor(message: string, againInMs?: number) {
    super(message);
    this.againInMs = againInMs;
  }
}

/** For what no watch announces: the end of a write, or an intent that is on its way. */
const lookAgainMs = 1_000;

const noRollout: Rollout = { admitted: new Set(), pausedBy: undefined, outdated: 0 };

/** Decides which nodes may be updated next, and reports how the set fares. */
export async function reconcileSet(deps: ReconcileSetDeps, entry: SetEntry): Promise<void> {
  await deps.gatherer.prepare();
  if (!deps.gatherer.complete()) return;
  const set = entry.metadata.name;
  const nodes = deps.gatherer.nodesOf(set);
  const counted = nodes.filter(({ onNode }) => onNode.selected);
  const rollout =
    entry.spec === undefined ? noRollout : decideRollout(entry.spec.rollout, counted, deps.writing.nodesOf(set));
  deps.admit(set, rollout.admitted);
  await report(deps, entry, rollout, { intents: 0, lost: [] });
}

/**
 * The end of a set: resolves when no node has anything of it any more.
 * @throws StillInUse while an intent carries its label, or may do so in a moment
 */
export async function releaseSet(deps: ReconcileSetDeps, entry: SetEntry): Promise<void> {
  const { gatherer } = deps;
  if (!gatherer.complete()) throw new StillInUse("not everything is known"); // asked again when it is
  const set = entry.metadata.name;
  deps.admit(set, new Set());
  const intents = gatherer.intentsOfSet(set);
  if (intents.length > 0) {
    const lost = intents.map(({ spec }) => spec.nodeName).filter((node) => !deps.hasNode(node));
    await report(deps, entry, noRollout, { intents: intents.length, lost: [...new Set(lost)].sort() });
    throw new StillInUse(`${intents.length} intents are left`);
  }
  if (deps.writing.nodesOf(set).size > 0) throw new StillInUse("a write is under way", lookAgainMs);
  // The last word is the server's: an intent that a former leader wrote may not have arrived yet.
  const live = await deps.client.list<Intent>(resource.intents, { labelSelector: setLabel(set) });
  if (live.items.length > 0) throw new StillInUse(`${live.items.length} intents are left`, lookAgainMs);
}

async function report(
  deps: ReconcileSetDeps,
  entry: SetEntry,
  rollout: Rollout,
  remaining: { readonly intents: number; readonly lost: readonly string[] },
): Promise<void> {
  const { name, uid, resourceVersion } = entry.metadata;
  const nodes = deps.gatherer.nodesOf(name);
  const pods = deps.podCount.of(name);
  const unguarded = deps.unguarded();
  const selected = () => (entry.spec === undefined ? "none" : deps.gatherer.selectedNodes(entry.spec));
  const status = setStatus({ entry, nodes, rollout, remaining, selected, pods, unguarded }, deps.clock.now());
  if (sameStatus(entry.status, status)) return;
  const putOffMs = deps.podCount.putOffMs(name, entry.status, status);
  if (putOffMs > 0) return deps.later(name, putOffMs);
  const patch = mergeDiff(entry.status, status) ?? {};
  deps.upsert(await deps.client.mergePatchStatus(resource.sets, { name, uid, resourceVersion }, patch));
  for (const event of setEvents(entry.status, status)) {
    deps.log.info("set changed", { set: name, reason: event.reason, why: event.message });
    deps.recorder.event({ object: { apiVersion, kind: resource.sets.kind, name, uid }, ...event });
  }
}

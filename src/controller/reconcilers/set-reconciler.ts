import { apiVersion, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { PendingWrites } from "../intents/pending-writes.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { setLabel } from "../model/volume-identity.ts";
import type { StillInUse } from "../sets/finalizer-controller.ts";
import type { PodCount } from "../sets/pod-count.ts";
import { decideRollout, type Rollout } from "../sets/rollout.ts";
import { setEvents } from "../sets/set-events.ts";
import { setStatus } from "../sets/set-status.ts";

/** Dependencies of the rollout and status of a set, and the end of a set. */
export interface ReconcileSetDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly recorder: EventRecorder;
  readonly gatherer: Gatherer;
  readonly pendingWrites: PendingWrites;
  readonly hasNode: (name: string) => boolean;
  readonly podCount: PodCount;
  /** Which admission policies are not in force, in a sentence. */
  readonly unguarded: () => string | undefined;
  readonly upsert: (raw: unknown) => void;
  /** The nodes of a set that may be updated now, in place of those before. */
  readonly admit: (set: string, nodes: ReadonlySet<string>) => void;
}

/** For what no watch announces: the end of a write, or an intent that is on its way. */
const lookAgainMs = 1_000;

const noRollout: Rollout = { admitted: new Set(), pausedBy: undefined, outdated: 0 };

/** Decides which nodes may be updated next, and reports how the set fares. */
export async function reconcileSet(deps: ReconcileSetDeps, entry: SetEntry): Promise<RequeueAfter | undefined> {
  await deps.gatherer.prepare();
  if (!deps.gatherer.complete()) return undefined;
  const set = entry.metadata.name;
  const nodes = deps.gatherer.nodesOf(set);
  const counted = nodes.filter(({ onNode }) => onNode.selected);
  const rollout =
    entry.spec === undefined ? noRollout : decideRollout(entry.spec.rollout, counted, deps.pendingWrites.nodesOf(set));
  deps.admit(set, rollout.admitted);
  return report(deps, entry, rollout, { intents: 0, lost: [] });
}

/**
 * The end of a set: undefined when no node has anything of it any more.
 * @returns why not while an intent carries its label, or may do so in a moment
 */
export async function releaseSet(deps: ReconcileSetDeps, entry: SetEntry): Promise<StillInUse | undefined> {
  const { gatherer } = deps;
  if (!gatherer.complete()) return { why: "not everything is known" }; // asked again when it is
  const set = entry.metadata.name;
  deps.admit(set, new Set());
  const intents = gatherer.intentsOfSet(set);
  if (intents.length > 0) {
    const lost = intents.map(({ spec }) => spec.nodeName).filter((node) => !deps.hasNode(node));
    const remaining = { intents: intents.length, lost: [...new Set(lost)].sort() };
    const requeueAfter = await report(deps, entry, noRollout, remaining);
    return { why: `${intents.length} intents are left`, requeueAfter };
  }
  if (deps.pendingWrites.nodesOf(set).size > 0) return { why: "a write is under way", requeueAfter: lookAgainMs };
  // The last word is the server's: an intent that a former leader wrote may not have arrived yet.
  const live = await deps.client.list<Intent>(resource.intents, { labelSelector: setLabel(set) });
  if (live.items.length === 0) return undefined;
  return { why: `${live.items.length} intents are left`, requeueAfter: lookAgainMs };
}

/** Writes the status, if it has changed. @returns when it may be written, if it was written a moment ago */
async function report(
  deps: ReconcileSetDeps,
  entry: SetEntry,
  rollout: Rollout,
  remaining: { readonly intents: number; readonly lost: readonly string[] },
): Promise<RequeueAfter | undefined> {
  const { name, uid, resourceVersion } = entry.metadata;
  const nodes = deps.gatherer.nodesOf(name);
  const pods = deps.podCount.of(name);
  const unguarded = deps.unguarded();
  const selected = () => (entry.spec === undefined ? "none" : deps.gatherer.selectedNodes(entry.spec));
  const status = setStatus({ entry, nodes, rollout, remaining, selected, pods, unguarded }, deps.clock.now());
  if (sameJson(entry.status, status)) return undefined;
  const putOffMs = deps.podCount.putOffMs(name, entry.status, status);
  if (putOffMs > 0) return putOffMs;
  const patch = mergeDiff(entry.status, status) ?? {};
  deps.upsert(await deps.client.mergePatchStatus(resource.sets, { name, uid, resourceVersion }, patch));
  for (const event of setEvents(entry.status, status)) {
    deps.log.info("set changed", { set: name, reason: event.reason, why: event.message });
    deps.recorder.event({ object: { apiVersion, kind: resource.sets.kind, name, uid }, ...event });
  }
  return undefined;
}

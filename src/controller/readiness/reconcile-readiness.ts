import { timestamp } from "../../api/conditions.ts";
import type { KubeObject } from "../../api/meta.ts";
import { readiness, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { type Left, leftOf, type Rate } from "../../kube/rate.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Gatherer } from "../intents/gather.ts";
import { type NodeInfo, refOf } from "../model/projections.ts";
import { type NodeReadiness, nodeReadiness, readinessChange } from "./node-readiness.ts";

/** Dependencies of writing the condition and taint of a Node. */
interface ReconcileReadinessDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gatherer: Gatherer;
  readonly nodes: Reflector<NodeInfo>;
}

/** @returns what is done for a node, with what it remembers between runs */
export function createReadiness(deps: ReconcileReadinessDeps): (node: string) => Promise<RequeueAfter | undefined> {
  /** When a node was last written, and how many writes it had left then, by node. */
  const written = new Map<string, Left>();
  return (node) => reconcileReadiness(deps, written, node);
}

/** The same in other words is written so often, in milliseconds: a Node is watched by everybody. */
const messageMs = 60_000;
/** And other things so often: whoever has an agent's token could have them change all the time. */
const changes: Rate = { most: 10, refillMs: 10_000 };

/**
 * Makes a Node show whether its volumes are there: the condition NodeVolumesReady, and the taint. What is written is
 * read live first, and refused if anybody has changed the Node since: lists are replaced as a whole, and others have
 * taints and conditions.
 * @returns milliseconds after which to look again, if any
 */
async function reconcileReadiness(
  deps: ReconcileReadinessDeps,
  written: Map<string, Left>,
  name: string,
): Promise<RequeueAfter | undefined> {
  const { gatherer } = deps;
  const node = deps.nodes.store.get(name);
  if (node === undefined) written.delete(name);
  if (node === undefined || !gatherer.complete()) return undefined;
  const wanted = nodeReadiness(gatherer.setsOnNode(name).values(), gatherer.intentsOf(name));
  const change = readinessChange(node.readiness, wanted);
  if (change === undefined) return undefined;
  const now = deps.clock.monotonic();
  const last = written.get(name);
  const left = leftOf(last, changes, now);
  const ofMessageMs = change.onlyMessage && last !== undefined ? last.at + messageMs - now : 0;
  const waitMs = Math.max(ofMessageMs, Math.ceil((1 - left) * changes.refillMs));
  if (waitMs > 0) return waitMs;
  let live = await deps.client.get<KubeObject>(resource.nodes, { name });
  if (live === undefined || live.metadata.uid !== node.metadata.uid) return undefined;
  // A taint comes before the condition that explains it, and goes after the one that says that all is well.
  if (change.taint === "add") live = await writeTaint(deps, live, true);
  if (change.condition !== undefined) live = await writeCondition(deps, live, wanted.condition);
  if (change.taint === "remove") await writeTaint(deps, live, false);
  written.set(name, { left: left - 1, at: now });
  const { status, reason } = wanted.condition ?? {};
  deps.log.info("readiness of a node written", { node: name, status, reason, taint: change.taint });
  return undefined;
}

async function writeTaint(deps: ReconcileReadinessDeps, live: KubeObject, on: boolean): Promise<KubeObject> {
  const others = arrayIn(recordIn(live, "spec"), "taints").filter(
    (taint) => stringIn(taint, "key") !== readiness.taint,
  );
  const taints = on ? [...others, { key: readiness.taint, effect: "NoSchedule" }] : others;
  const patch = { spec: { taints: taints.length === 0 ? null : taints } };
  const answer = await deps.client.mergePatch<KubeObject>(resource.nodes, refOf(live), patch);
  deps.nodes.upsertIfNewer(answer);
  return answer;
}

async function writeCondition(
  deps: ReconcileReadinessDeps,
  live: KubeObject,
  wanted: NodeReadiness["condition"],
): Promise<KubeObject> {
  const type = readiness.nodeCondition;
  const all = arrayIn(recordIn(live, "status"), "conditions");
  const before = all.find((condition) => stringIn(condition, "type") === type);
  const time = timestamp(deps.clock.now());
  const since = stringIn(before, "status") === wanted?.status ? stringIn(before, "lastTransitionTime") : undefined;
  const others = all.filter((condition) => condition !== before);
  const ours = wanted && { type, ...wanted, lastHeartbeatTime: time, lastTransitionTime: since ?? time };
  const conditions = ours === undefined ? others : [...others, ours];
  const answer = await deps.client.mergePatchStatus<KubeObject>(resource.nodes, refOf(live), { conditions });
  deps.nodes.upsertIfNewer(answer);
  return answer;
}

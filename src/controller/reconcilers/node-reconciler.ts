import { classifyWriteError } from "../../kube/client/api-error.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";
import { compileNode } from "../intents/compile-intents.ts";
import { diffIntents } from "../intents/diff-intents.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { PendingWrites } from "../intents/pending-writes.ts";
import { nameOf, setsOf, type WriteIntentsDeps, writeIntents } from "../intents/write-intents.ts";
import type { RejectionEvents } from "../pods/rejection-events.ts";
import { proofInMs } from "../release/decide-release.ts";

/** Dependencies of writing the intents of a node. */
export interface ReconcileNodeDeps extends WriteIntentsDeps {
  readonly gatherer: Gatherer;
  readonly leases: AgentLeases;
  readonly pendingWrites: PendingWrites;
  /** Whether the rollout of a set has admitted the node. */
  readonly mayUpdate: (set: string, node: string) => boolean;
  readonly rejections: RejectionEvents;
  readonly notices: RejectionEvents;
}

/**
 * Makes the intents of one node what they shall be: gather, resolve, compile, and write only what differs. Does nothing
 * while not everything is known. Rejects with the first error of a write.
 * @returns milliseconds after which to look again, if time alone may change what the intents shall be
 */
export async function reconcileNode(deps: ReconcileNodeDeps, node: string): Promise<RequeueAfter | undefined> {
  const { gatherer, leases, pendingWrites } = deps;
  if (!gatherer.complete()) return undefined;
  const input = gatherer.input(node);
  const facts = { node: input.node, ...leases.silence(node) };
  const plan = compileNode(input, gatherer.setsOnNode(node), (set) => deps.mayUpdate(set, node), facts);
  const writes = diffIntents(plan, input.intents);
  deps.rejections.record(node, input.node === undefined ? [] : plan.rejections);
  deps.notices.record(node, input.node === undefined ? [] : plan.notices);
  const looks = input.intents.flatMap((intent) => proofInMs(intent, facts) ?? []);
  const againInMs = looks.length === 0 ? undefined : Math.min(...looks);
  gatherer.forgetRefusals(node, new Set(writes.map(nameOf)));
  if (writes.length === 0) {
    pendingWrites.end(node);
    return againInMs;
  }
  pendingWrites.begin(node, new Set(writes.flatMap((write) => [...setsOf(write)])));
  try {
    await writeIntents(deps, writes, (intent, refusal) => gatherer.refused(node, intent, refusal));
    pendingWrites.end(node);
    return againInMs;
  } catch (error) {
    // Not before it is clear whether it was applied: the next run of this node looks again.
    if (classifyWriteError(error) !== "uncertain") pendingWrites.end(node);
    throw error;
  }
}

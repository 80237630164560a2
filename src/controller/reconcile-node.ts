import { messageOf } from "../errors.ts";
import { ApiError, classifyWriteError } from "../kube/api-error.ts";
import type { AgentLeases } from "./agent-leases.ts";
import { compileNode } from "./compile-intents.ts";
import type { IntentWrite } from "./diff-intents.ts";
import { diffIntents } from "./diff-intents.ts";
import type { Gatherer } from "./gather.ts";
import { proofInMs } from "./release.ts";
import type { WriteIntentsDeps } from "./write-intents.ts";
import { writeIntents } from "./write-intents.ts";
import type { Writing } from "./writing.ts";

export interface ReconcileNodeDeps extends WriteIntentsDeps {
  readonly gatherer: Gatherer;
  readonly leases: AgentLeases;
  readonly writing: Writing;
  /** Whether the rollout of a set has admitted the node. */
  readonly mayUpdate: (set: string, node: string) => boolean;
}

/**
 * Makes the intents of one node what they shall be: gather, resolve, compile, and write only what differs. Does nothing
 * while not everything is known. Rejects with the first write that failed.
 * @returns milliseconds after which to look again, if time alone may change what the intents shall be
 */
export async function reconcileNode(deps: ReconcileNodeDeps, node: string): Promise<number | undefined> {
  const { gatherer, leases, writing } = deps;
  if (!gatherer.complete()) return undefined;
  const input = gatherer.input(node);
  const facts = { node: input.node, ...leases.silence(node) };
  const plan = compileNode(input, gatherer.stakes(node), (set) => deps.mayUpdate(set, node), facts);
  const writes = diffIntents(plan, input.intents);
  const looks = input.intents.flatMap((intent) => proofInMs(intent, facts) ?? []);
  const againInMs = looks.length === 0 ? undefined : Math.min(...looks);
  if (writes.length === 0) {
    writing.end(node);
    return againInMs;
  }
  writing.begin(node, setsOf(writes));
  try {
    await writeIntents(deps, writes);
    gatherer.refused(node, undefined);
    writing.end(node);
    return againInMs;
  } catch (error) {
    const errorClass = classifyWriteError(error);
    // Not before it is clear whether it was applied: the next run of this node looks again.
    if (errorClass !== "uncertain") writing.end(node);
    if (errorClass === "final" && error instanceof ApiError) gatherer.refused(node, messageOf(error));
    throw error;
  }
}

function setsOf(writes: readonly IntentWrite[]): Set<string> {
  const before = writes.flatMap((write) => (write.verb === "create" ? [] : write.intent.spec.mounts));
  const after = writes.flatMap((write) => {
    if (write.verb === "create") return write.spec.mounts;
    return write.verb === "patch" ? mountsOf(write.patch) : [];
  });
  return new Set([...before, ...after].map((mount) => mount.requester.name));
}

function mountsOf(patch: { spec?: { mounts?: readonly { requester: { name: string } }[] } }) {
  return patch.spec?.mounts ?? [];
}

import { annotation } from "../../api/names.ts";
import type { Claim } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/** What becomes of a claim that waits for its first consumer. */
export interface NodeChoice {
  readonly waiting: WaitReason;
  /** The node to write into the claim: now, or after so many milliseconds. */
  readonly select?: { readonly node: string; readonly inMs: number };
}

/** How often a node was chosen for the claim, and how long ago the last time was. */
export interface EarlierChoice {
  readonly times: number;
  readonly agoMs: number;
}

const firstRetryMs = 15_000;
const longestRetryMs = 300_000;

/**
 * Chooses the node that a claim is provisioned for, which is otherwise the scheduler's work: the one that wants it.
 * Several are more than we decide among. What the provisioner takes away again it has refused (safety rule 21). Pure.
 * @param nodes that want the claim
 * @param earlier what this controller has written itself
 */
export function chooseNode(claim: Claim, nodes: ReadonlySet<string>, earlier: EarlierChoice | undefined): NodeChoice {
  const { namespace = "", name, annotations = {} } = claim.metadata;
  const it = `claim ${namespace}/${name}`;
  const on = { kind: "PersistentVolumeClaim", namespace, name };
  const selected = annotations[annotation.selectedNode] ?? "";
  const [node] = nodes;
  if (selected !== "") {
    const message = `${it} is being provisioned for node ${selected}`;
    return { waiting: { reason: "ClaimNotBound", message, on } };
  }
  if (node === undefined || nodes.size > 1) {
    const message = `${it} waits for its first consumer, and ${nodes.size} nodes want it: let one have it first, or let a pod use it`;
    return { waiting: { reason: "NeedsScheduler", message, on } };
  }
  if (earlier === undefined) {
    const message = `${it} waits for its first consumer; node ${node} is chosen`;
    return { waiting: { reason: "ClaimNotBound", message, on }, select: { node, inMs: 0 } };
  }
  const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (earlier.times - 1));
  const message = `the provisioner of ${it} has refused node ${node}; the request is repeated from time to time`;
  return {
    waiting: { reason: "ProvisioningRefusedForNode", message, on },
    select: { node, inMs: Math.max(0, retryMs - earlier.agoMs) },
  };
}

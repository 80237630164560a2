import type { Reason } from "../../api/reasons.ts";
import type { RolloutPolicy } from "../../api/types.gen.ts";
import type { SetOnNode } from "../model/node-input.ts";
import { compareText } from "../util/canonical-json.ts";

/** One node that counts for a set. */
export interface RolloutNode {
  readonly node: string;
  readonly onNode: SetOnNode;
}

/** How far the update of a set has come. */
export interface Rollout {
  /** Nodes whose update may be written now. */
  readonly admitted: ReadonlySet<string>;
  /** The node that holds the others back: it has failed, or cannot see whether it still does. */
  readonly pausedBy: { readonly node: string; readonly reason: string; readonly message: string } | undefined;
  /** Nodes that still have an older spec. */
  readonly outdated: number;
}

/**
 * The nodes of a set that may get its newest spec now. Pure and stateless: an admitted node counts as unavailable from
 * the moment its write is under way until its agent reports Ready for it.
 *
 * Nodes that are unavailable anyway are admitted first and at once, because they lose nothing; so are all nodes of a
 * set that only observes. Then follow, in the order of their names, as many nodes as maxUnavailable allows. A node in
 * unknown state takes a place and is not admitted: its volume may well be in use. A node that waits for another node to
 * release the volume takes none: otherwise it would keep the only node that has the volume from its update for ever.
 * @param writing nodes with a write of this set under way
 */
export function decideRollout(
  policy: RolloutPolicy,
  nodes: readonly RolloutNode[],
  writing: ReadonlySet<string>,
): Rollout {
  const sorted = [...nodes].sort((a, b) => compareText(a.node, b.node));
  const outdated = sorted.filter(({ onNode }) => onNode.state === "outdated");
  const candidates = outdated.filter(({ onNode }) => !onNode.held);
  const pausedBy = policy.onFailure === "Pause" && candidates.length > 0 ? firstFailure(sorted) : undefined;
  if (pausedBy !== undefined) return { admitted: new Set(), pausedBy, outdated: outdated.length };

  const admitted = new Set(candidates.filter(({ onNode }) => losesNothing(onNode)).map(({ node }) => node));
  const isDown = ({ node, onNode }: RolloutNode) => {
    return (onNode.availability.state !== "available" && !waitsForAnother(onNode)) || writing.has(node);
  };
  let room = unavailableLimit(policy, nodes.length) - sorted.filter(isDown).length;
  for (const { node, onNode } of candidates) {
    // Its write is under way: it has taken its room already.
    if (writing.has(node)) admitted.add(node);
    else if (room > 0 && onNode.availability.state === "available" && !admitted.has(node)) {
      admitted.add(node);
      room -= 1;
    }
  }
  return { admitted, pausedBy: undefined, outdated: outdated.length };
}

/** maxUnavailable of `count` nodes as a number: a percentage is rounded up, and one node may always be changed. */
export function unavailableLimit({ maxUnavailable }: RolloutPolicy, count: number): number {
  const limit =
    typeof maxUnavailable === "number"
      ? maxUnavailable
      : Math.ceil((Number.parseInt(maxUnavailable, 10) * count) / 100);
  return Math.max(1, limit);
}

/** An agent that cannot read its mount table says so in place of what the node failed with before, which may last. */
function firstFailure(nodes: readonly RolloutNode[]) {
  const current = nodes.filter(({ onNode }) => onNode.state === "current");
  const failure = current.find(({ onNode }) => onNode.availability.trouble?.blocked === true) ?? current.find(isBlind);
  const trouble = failure?.onNode.availability.trouble;
  return failure && trouble && { node: failure.node, reason: trouble.reason, message: trouble.message };
}

function isBlind({ onNode: { availability } }: RolloutNode): boolean {
  return availability.trouble?.reason === ("MountTableUnreadable" satisfies Reason);
}

function waitsForAnother({ availability: { state, trouble } }: SetOnNode): boolean {
  return state === "unavailable" && trouble?.reason === ("VolumeHeldElsewhere" satisfies Reason);
}

function losesNothing({ found, wanted, availability }: SetOnNode): boolean {
  const observes = wanted?.settings.mode === "Observe" && found.every((share) => share.settings.mode === "Observe");
  return observes || availability.state === "unavailable";
}

import { annotation } from "../../api/names.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { isOutOfService } from "../release/decide-release.ts";
import { decideAttachment, decideGranted, staleNodeID } from "./decide-attachment.ts";
import {
  heldBy,
  isDenied,
  onAttachment,
  othersObstacle,
  ownObstacle,
  queuesFor,
  releasedBy,
  usedBefore,
} from "./obstacles.ts";
import type { AttachPlan, Decision } from "./volume-decision.ts";
import {
  asks,
  byAge,
  holds,
  type IndexedVolumeFacts,
  indexFacts,
  isExclusive,
  nodeNameOf,
  type VolumeConsumer,
  type VolumeFacts,
} from "./volume-facts.ts";

/**
 * The decisions about one CSI volume, over all nodes. Pure.
 *
 * ```
 *  asks ─► nothing of its own in the way ─► nobody else has it ─► its turn ─► attached ─► granted ─► released
 *            (DriverNotOnNode, …)            (Detaching,           oldest     (WaitingForAttach, only by
 *                                             VolumeHeldElsewhere)  first      AttachFailed)      release-reconciler.ts
 * ```
 * A consumer that needs exclusive access waits until no node has the volume. Those that could share it and came later
 * wait until that one had its turn; otherwise they would keep the volume among themselves for ever. A node has the
 * volume if there is a grant, a VolumeAttachment of ours, or one of these that may have been written without an answer.
 * While a VolumeAttachment of the volume is being deleted, no node gets it.
 */
export function decideVolume(found: VolumeFacts): AttachPlan {
  const facts = indexFacts(found);
  const decisions: Decision[] = [];
  const ready: VolumeConsumer[] = [];
  let next: VolumeConsumer | undefined; // who waits to be alone, the oldest
  for (const consumer of [...facts.consumers].sort(byAge)) {
    if (consumer.intent.metadata.deletionTimestamp !== undefined) {
      decisions.push(leaving(facts, consumer));
    } else if (holds(consumer)) decisions.push(decideGranted(facts, consumer));
    else {
      const own = ownObstacle(facts, consumer);
      const waitReason = own ?? othersObstacle(facts, consumer);
      if (own === undefined && isExclusive(consumer)) next ??= consumer;
      if (waitReason !== undefined) decisions.push({ consumer, waitReason });
      else if (next === undefined || next === consumer || isExclusive(consumer) || isBegun(facts, consumer))
        ready.push(consumer);
      else decisions.push({ consumer, waitReason: queuesFor(next), behind: true });
    }
  }
  const turns = attachOrder(facts, ready);
  const inTurn = new Set(turns);
  const turnOn = new Map(turns.map((one) => [nodeNameOf(one), one]));
  const [oldest] = turns;
  for (const consumer of ready) {
    const alone = isExclusive(consumer) || (oldest !== undefined && isExclusive(oldest));
    const before = inTurn.has(consumer) ? undefined : alone ? oldest : turnOn.get(nodeNameOf(consumer));
    if (before === undefined) decisions.push(decideAttachment(facts, consumer));
    else decisions.push({ consumer, waitReason: heldBy(facts, before), behind: true });
  }
  const detach = dangling(facts, inTurn);
  const [first] = detach;
  const kept = [...facts.ours.values()].filter(
    (one) => usedBefore(one.metadata.annotations) && !facts.consumersOn.has(one.nodeName) && !isGoing(one, detach),
  );
  return { decisions: first === undefined ? decisions : decisions.map((one) => afterDetach(one, first)), detach, kept };
}

function isGoing(one: Attachment, detach: readonly Attachment[]): boolean {
  return one.metadata.deletionTimestamp !== undefined || detach.includes(one);
}

/** Nothing new is begun for who must be alone while an attachment elsewhere is still to be taken away. */
function afterDetach(decision: Decision, { metadata, nodeName }: Attachment): Decision {
  const { consumer, step } = decision;
  if (step === undefined || step.do === "release" || holds(consumer) || !isExclusive(consumer)) return decision;
  const message = `the volume is attached to node ${nodeName}, where it is no longer needed: it is detached first`;
  return { consumer, waitReason: { reason: "Detaching", message, on: onAttachment(metadata.name, nodeName) } };
}

/**
 * The consumers whose turn it is: the oldest, and with it those that can share the volume, one per node. Those that are
 * attached already come first, because detaching costs time.
 */
function attachOrder(facts: IndexedVolumeFacts, ready: readonly VolumeConsumer[]): VolumeConsumer[] {
  const [begun, rest] = [true, false].map((wanted) => ready.filter((one) => isBegun(facts, one) === wanted));
  const [first, ...others] = [...(begun ?? []), ...(rest ?? [])];
  if (first === undefined) return [];
  if (isExclusive(first)) return [first];
  const byNode = new Map([[nodeNameOf(first), first]]);
  for (const one of others) if (!isExclusive(one) && !byNode.has(nodeNameOf(one))) byNode.set(nodeNameOf(one), one);
  return [...byNode.values()];
}

function isBegun({ ours, attaching }: IndexedVolumeFacts, consumer: VolumeConsumer): boolean {
  return ours.has(nodeNameOf(consumer)) || attaching.has(nodeNameOf(consumer));
}

/**
 * A VolumeAttachment that is perhaps of another machine is left alone, and the intent with it (safety rule 10), until
 * somebody says that this machine is off (rule 23).
 */
function leaving(facts: IndexedVolumeFacts, consumer: VolumeConsumer): Decision {
  const attachment = facts.ours.get(nodeNameOf(consumer));
  if (attachment === undefined) return { consumer, step: { do: "release" } };
  const { name, deletionTimestamp } = attachment.metadata;
  const on = onAttachment(name, attachment.nodeName);
  if (deletionTimestamp === undefined) {
    const stale = staleNodeID(attachment, consumer.place.nodeID);
    if (stale !== undefined && !isGivenUp(consumer, attachment)) {
      const exit = releasedBy("nvi", consumer.intent.metadata.name, "the old machine is off");
      return { consumer, waitReason: { reason: "StaleNodeID", message: `${stale}: ${exit}`, on } };
    }
    return { consumer, step: { do: "release" } };
  }
  const trouble = attachment.detachError === "" ? "" : `: ${attachment.detachError}`;
  return { consumer, waitReason: { reason: "Detaching", message: `the volume is being detached${trouble}`, on } };
}

/** By the Node's out-of-service taint, or an administrator's word on the intent or its VolumeAttachment. */
function isGivenUp({ intent, node }: VolumeConsumer, attachment: Attachment): boolean {
  const said = [intent, attachment].some(({ metadata }) => (metadata.annotations?.[annotation.release] ?? "") !== "");
  return said || (node !== undefined && isOutOfService(node));
}

/**
 * Our VolumeAttachments to delete: those on a node where no consumer has the volume, is releasing it, or requests it
 * and is allowed to. An attachment that a grant was based on stays even if its intent is gone: its release was not
 * acknowledged, so that it may be in use (safety rule 1). Only the Node's out-of-service taint or an administrator's
 * annotation on the VolumeAttachment overrides that.
 */
function dangling(facts: IndexedVolumeFacts, turns: ReadonlySet<VolumeConsumer>): Attachment[] {
  const having = [...facts.holders, ...turns];
  const hadAlone = having.some(isExclusive);
  return [...facts.ours.values()].filter(({ metadata, nodeName }) => {
    if (metadata.deletionTimestamp !== undefined) return false;
    const there = (facts.consumersOn.get(nodeName) ?? []).filter((consumer) => !isDenied(facts, consumer));
    if (there.some((consumer) => !asks(consumer) || turns.has(consumer))) return false;
    if (!usedBefore(metadata.annotations)) {
      if (there.length === 0 || !facts.attachRequired) return true;
      return hadAlone || (having.length > 0 && there.every(isExclusive));
    }
    if (there.length > 0) return false;
    const node = facts.node(nodeName);
    return (node !== undefined && isOutOfService(node)) || (metadata.annotations?.[annotation.release] ?? "") !== "";
  });
}

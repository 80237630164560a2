import { annotation } from "../../api/names.ts";
import { isOutOfService } from "../release.ts";
import { decideAttachment, decideGranted, staleNodeID } from "./decide-attachment.ts";
import type { Member, Survey, VolumeFacts } from "./facts.ts";
import { asks, byAge, holds, nodeNameOf, survey, usesAlone } from "./facts.ts";
import type { Attachment } from "./objects.ts";
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
import type { Decision, VolumePlan } from "./volume-decision.ts";

/**
 * The decisions about one CSI volume, over all nodes. Pure.
 *
 * ```
 *  asks ─► nothing of its own in the way ─► nobody else has it ─► its turn ─► attached ─► granted ─► released
 *            (DriverNotOnNode, …)            (Detaching,           oldest      (WaitingForAttach,    only by
 *                                             VolumeHeldElsewhere)  first       AttachFailed)         release-intent.ts
 * ```
 * A member that needs exclusive access waits until no node has the volume. Members that could share it and came later
 * wait until that one had its turn; otherwise they would keep the volume among themselves for ever. A node has the
 * volume if there is a grant, a VolumeAttachment of ours, or one of these that may have been written without an answer.
 * While a VolumeAttachment of the volume is being deleted, no node gets it.
 */
export function decideVolume(found: VolumeFacts): VolumePlan {
  const facts = survey(found);
  const decisions: Decision[] = [];
  const ready: Member[] = [];
  let next: Member | undefined; // who waits to be alone, the oldest
  for (const member of [...facts.members].sort(byAge)) {
    if (member.intent.metadata.deletionTimestamp !== undefined) {
      decisions.push(leaving(facts, member));
    } else if (holds(member)) decisions.push(decideGranted(facts, member));
    else {
      const own = ownObstacle(facts, member);
      const waitReason = own ?? othersObstacle(facts, member);
      if (own === undefined && usesAlone(member)) next ??= member;
      if (waitReason !== undefined) decisions.push({ member, waitReason });
      else if (next === undefined || next === member || usesAlone(member) || isBegun(facts, member)) ready.push(member);
      else decisions.push({ member, waitReason: queuesFor(next), behind: true });
    }
  }
  const turns = turnsOf(facts, ready);
  const inTurn = new Set(turns);
  const turnOn = new Map(turns.map((one) => [nodeNameOf(one), one]));
  const [oldest] = turns;
  for (const member of ready) {
    const alone = usesAlone(member) || (oldest !== undefined && usesAlone(oldest));
    const before = inTurn.has(member) ? undefined : alone ? oldest : turnOn.get(nodeNameOf(member));
    if (before === undefined) decisions.push(decideAttachment(facts, member));
    else decisions.push({ member, waitReason: heldBy(facts, before), behind: true });
  }
  const detach = dangling(facts, inTurn);
  const [first] = detach;
  const kept = [...facts.ours.values()].filter(
    (one) => usedBefore(one.metadata.annotations) && !facts.membersOn.has(one.nodeName) && !isGoing(one, detach),
  );
  return { decisions: first === undefined ? decisions : decisions.map((one) => afterDetach(one, first)), detach, kept };
}

function isGoing(one: Attachment, detach: readonly Attachment[]): boolean {
  return one.metadata.deletionTimestamp !== undefined || detach.includes(one);
}

/** Nothing new is begun for who must be alone while an attachment elsewhere is still to be taken away. */
function afterDetach(decision: Decision, { metadata, nodeName }: Attachment): Decision {
  const { member, step } = decision;
  if (step === undefined || step.do === "release" || holds(member) || !usesAlone(member)) return decision;
  const message = `the volume is attached to node ${nodeName}, where it is no longer needed: it is detached first`;
  return { member, waitReason: { reason: "Detaching", message, on: onAttachment(metadata.name, nodeName) } };
}

/**
 * The members whose turn it is: the oldest, and with it those that can share the volume, one per node. Members that are
 * attached already come first, because detaching costs time.
 */
function turnsOf(facts: Survey, ready: readonly Member[]): Member[] {
  const [begun, rest] = [true, false].map((wanted) => ready.filter((one) => isBegun(facts, one) === wanted));
  const [first, ...others] = [...(begun ?? []), ...(rest ?? [])];
  if (first === undefined) return [];
  if (usesAlone(first)) return [first];
  const byNode = new Map([[nodeNameOf(first), first]]);
  for (const one of others) if (!usesAlone(one) && !byNode.has(nodeNameOf(one))) byNode.set(nodeNameOf(one), one);
  return [...byNode.values()];
}

function isBegun({ ours, attaching }: Survey, member: Member): boolean {
  return ours.has(nodeNameOf(member)) || attaching.has(nodeNameOf(member));
}

/**
 * A VolumeAttachment that is perhaps of another machine is left alone, and the intent with it (safety rule 10), until
 * somebody says that this machine is off (rule 23).
 */
function leaving(facts: Survey, member: Member): Decision {
  const attachment = facts.ours.get(nodeNameOf(member));
  if (attachment === undefined) return { member, step: { do: "release" } };
  const { name, deletionTimestamp } = attachment.metadata;
  const on = onAttachment(name, attachment.nodeName);
  if (deletionTimestamp === undefined) {
    const stale = staleNodeID(attachment, member.place.nodeID);
    if (stale !== undefined && !isGivenUp(member, attachment)) {
      const exit = releasedBy("nvi", member.intent.metadata.name, "the old machine is off");
      return { member, waitReason: { reason: "StaleNodeID", message: `${stale}: ${exit}`, on } };
    }
    return { member, step: { do: "release" } };
  }
  const trouble = attachment.detachError === "" ? "" : `: ${attachment.detachError}`;
  return { member, waitReason: { reason: "Detaching", message: `the volume is being detached${trouble}`, on } };
}

/** By the Node's out-of-service taint, or an administrator's word on the intent or its VolumeAttachment. */
function isGivenUp({ intent, node }: Member, attachment: Attachment): boolean {
  const said = [intent, attachment].some(({ metadata }) => (metadata.annotations?.[annotation.release] ?? "") !== "");
  return said || (node !== undefined && isOutOfService(node));
}

/**
 * Our VolumeAttachments to delete: those on a node where no member has the volume, is releasing it, or requests it and
 * is allowed to. An attachment that a grant was based on stays even if its intent is gone: its release was not
 * acknowledged, so that it may be in use (safety rule 1). Only the Node's out-of-service taint or an administrator's
 * annotation on the VolumeAttachment overrides that.
 */
function dangling(facts: Survey, turns: ReadonlySet<Member>): Attachment[] {
  const having = [...facts.holders, ...turns];
  const hadAlone = having.some(usesAlone);
  return [...facts.ours.values()].filter(({ metadata, nodeName }) => {
    if (metadata.deletionTimestamp !== undefined) return false;
    const there = (facts.membersOn.get(nodeName) ?? []).filter((member) => !isDenied(facts, member));
    if (there.some((member) => !asks(member) || turns.has(member))) return false;
    if (!usedBefore(metadata.annotations)) {
      if (there.length === 0 || !facts.attachRequired) return true;
      return hadAlone || (having.length > 0 && there.every(usesAlone));
    }
    if (there.length > 0) return false;
    const node = facts.node(nodeName);
    return (node !== undefined && isOutOfService(node)) || (metadata.annotations?.[annotation.release] ?? "") !== "";
  });
}

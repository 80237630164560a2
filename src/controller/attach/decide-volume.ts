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
 * What is to be done about one volume, over all nodes. Pure.
 *
 * ```
 *  asks ─► nothing of its own in the way ─► nobody else has it ─► its turn ─► attached ─► granted ─► released
 *            (DriverNotOnNode, …)            (Detaching,           oldest      (WaitingForAttach,    only by
 *                                             VolumeHeldElsewhere)  first       AttachFailed)         release-intent.ts
 * ```
 * Who must be alone waits until nobody has it, and who could share it and came later waits until that one had its turn:
 * those who may all have it at once would else keep it among themselves for ever. A grant, even one that is only
 * perhaps written, a VolumeAttachment of ours and one that is perhaps written all say that its node has the volume.
 * While any VolumeAttachment of the volume is being deleted nobody gets it.
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
 * Those whose turn it is: the oldest, and beside it who need not be alone, one on each node. Who is attached already
 * comes first, as to change one's mind costs time.
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
 * Of ours, those on whose node nobody has the volume, is having it released, or asks for it and is allowed to. One that
 * a grant rested on stays although its intent has gone: no acknowledgement was seen, so it may be in use (safety
 * rule 1). Then only the Node's out-of-service taint or an administrator's word on the VolumeAttachment says that it is
 * not.
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

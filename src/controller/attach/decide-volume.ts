import { annotation } from "../../api/names.ts";
import { isOutOfService } from "../release.ts";
import { isOurs } from "./attachment-name.ts";
import { decideAttachment, decideGranted, staleNodeID } from "./decide-attachment.ts";
import type { Member, VolumeFacts } from "./facts.ts";
import { asks, byAge, holds, nodeNameOf, ourAttachment, usesAlone } from "./facts.ts";
import type { Attachment } from "./objects.ts";
import { heldBy, onAttachment, othersObstacle, ownObstacle, usedBefore } from "./obstacles.ts";
import type { Word } from "./word.ts";

/** What is to be done for one member. */
export type Step =
  | { readonly do: "attach"; readonly again: boolean }
  | { readonly do: "grant"; readonly attachment: Attachment | undefined }
  | { readonly do: "release" };

export interface Decision {
  readonly member: Member;
  readonly step?: Step;
  /** What is waited for, or wrong; without it nothing is. */
  readonly word?: Word;
}

export interface VolumePlan {
  readonly decisions: readonly Decision[];
  /** VolumeAttachments of ours that nobody uses or asks for. */
  readonly detach: readonly Attachment[];
}

/**
 * What is to be done about one volume, over all nodes. Pure.
 *
 * ```
 *  asks ─► nothing of its own in the way ─► nobody else has it ─► its turn ─► attached ─► granted ─► released
 *            (DriverNotOnNode, …)            (Detaching,           oldest      (WaitingForAttach,     only by
 *                                             VolumeHeldElsewhere)  first       AttachFailed)          release-intent.ts
 * ```
 * A grant, even one that is only perhaps written, a VolumeAttachment of ours and one that is perhaps written all say that
 * its node has the volume. While any VolumeAttachment of the volume is being deleted nobody gets it.
 */
export function decideVolume(facts: VolumeFacts): VolumePlan {
  const decisions: Decision[] = [];
  const ready: Member[] = [];
  for (const member of [...facts.members].sort(byAge)) {
    if (member.intent.metadata.deletionTimestamp !== undefined) {
      decisions.push(leaving(facts, member));
    } else if (holds(member)) decisions.push(decideGranted(facts, member));
    else {
      const word = ownObstacle(facts, member) ?? othersObstacle(facts, member);
      if (word === undefined) ready.push(member);
      else decisions.push({ member, word });
    }
  }
  const turns = turnsOf(facts, ready);
  for (const member of ready) {
    const first = turns.find((one) => one === member || rivals(one, member));
    if (first === member || first === undefined) decisions.push(decideAttachment(facts, member));
    else
      decisions.push({
        member,
        word: heldBy(first, ourAttachment(facts, nodeNameOf(first))?.metadata.creationTimestamp),
      });
  }
  const detach = dangling(facts, new Set(turns));
  const [first] = detach;
  return { decisions: first === undefined ? decisions : decisions.map((one) => afterDetach(one, first)), detach };
}

/** Nothing new is begun for who must be alone while an attachment elsewhere is still to be taken away. */
function afterDetach(decision: Decision, { metadata, nodeName }: Attachment): Decision {
  const { member, step } = decision;
  if (step === undefined || step.do === "release" || holds(member) || !usesAlone(member)) return decision;
  const message = `the volume is attached to node ${nodeName}, where nobody asks for it any more: it is detached first`;
  return { member, word: { reason: "Detaching", message, on: onAttachment(metadata.name, nodeName) } };
}

/** In which order they come to their turn: who is attached already goes first, as to change one's mind costs time. */
function turnsOf(facts: VolumeFacts, ready: readonly Member[]): Member[] {
  const begun = (one: Member) =>
    ourAttachment(facts, nodeNameOf(one)) !== undefined || facts.attaching.has(nodeNameOf(one));
  const order = [...ready.filter(begun), ...ready.filter((one) => !begun(one))];
  const turns: Member[] = [];
  for (const member of order) if (!turns.some((one) => rivals(one, member))) turns.push(member);
  return turns;
}

/** Whether only one of the two may have the volume. */
function rivals(a: Member, b: Member): boolean {
  return usesAlone(a) || usesAlone(b) || nodeNameOf(a) === nodeNameOf(b);
}

/** A VolumeAttachment that is perhaps of another machine is left alone, and the intent with it (safety rule 10). */
function leaving(facts: VolumeFacts, member: Member): Decision {
  const attachment = ourAttachment(facts, nodeNameOf(member));
  if (attachment === undefined) return { member, step: { do: "release" } };
  const { name, deletionTimestamp } = attachment.metadata;
  const on = onAttachment(name, attachment.nodeName);
  if (deletionTimestamp === undefined) {
    const stale = staleNodeID(attachment, member.place.nodeID);
    if (stale !== undefined) return { member, word: { reason: "StaleNodeID", message: stale, on } };
    return { member, step: { do: "release" } };
  }
  const trouble = attachment.detachError === "" ? "" : `: ${attachment.detachError}`;
  return { member, word: { reason: "Detaching", message: `the volume is being detached${trouble}`, on } };
}

/**
 * Of ours, those on whose node nobody has the volume, is having it released, or asks for it. One that a grant rested on
 * stays although its intent has gone: no acknowledgement was seen, so it may be in use (safety rule 1). Then only the
 * Node's out-of-service taint or an administrator's word on the VolumeAttachment says that it is not.
 */
function dangling(facts: VolumeFacts, turns: ReadonlySet<Member>): Attachment[] {
  return facts.attachments.filter(({ metadata, nodeName }) => {
    if (!isOurs(metadata.name) || metadata.deletionTimestamp !== undefined) return false;
    const there = facts.members.filter((member) => nodeNameOf(member) === nodeName);
    if (there.some((member) => !asks(member) || turns.has(member))) return false;
    if (!usedBefore(metadata.annotations)) {
      if (there.length === 0 || !facts.attachRequired) return true;
      return facts.members.some((one) => (holds(one) || turns.has(one)) && there.every((two) => rivals(one, two)));
    }
    if (there.length > 0) return false;
    const node = facts.node(nodeName);
    return (node !== undefined && isOutOfService(node)) || (metadata.annotations?.[annotation.release] ?? "") !== "";
  });
}

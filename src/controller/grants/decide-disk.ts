import { overlap } from "../../api/disk-name.ts";
import { isCompared } from "../../api/source-traits.ts";
import { onIntent } from "../attach/obstacles.ts";
import { byAge } from "../attach/volume-facts.ts";
import type { Intent } from "../model/projections.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/** An intent that has, or asks for, a disk that several nodes may reach. */
export interface DiskMember {
  readonly intent: Intent;
  /** What it is to be given, by a write that was not seen yet, or not answered. */
  readonly giving: string | undefined;
}

/** What is to be done for one that asks, or that should not have what it has. */
export type DiskDecision =
  | { readonly intent: Intent; readonly give: string }
  | { readonly intent: Intent; readonly waitReason: WaitReason };

/**
 * What is to be done about one disk, whatever its intents call it: sources of different kinds, other targets, other
 * ports. One node has it, or several that read (readOnly of the source), the oldest first; who was given it before
 * there was that has it, too. Pure.
 */
export function decideDisk(members: readonly DiskMember[]): readonly DiskDecision[] {
  const sorted = [...members].sort(byAge);
  const holders = sorted.flatMap(holdingOf);
  return sorted.flatMap(({ intent }): DiskDecision[] => {
    const asked = askedBy(intent);
    if (asked === undefined) return [];
    const other = holders.find(
      (one) => one.intent !== intent && overlap(one.disk, asked) && !(reads(one.intent) && reads(intent)),
    );
    if (other !== undefined) return [{ intent, waitReason: heldBy(other.intent, asked) }];
    holders.push({ intent, disk: asked });
    return [{ intent, give: asked }];
  });
}

/** The wait reason of an intent whose disk other intents have or request. Pure. */
export function diskHeldElsewhere(members: readonly DiskMember[], intent: Intent): WaitReason | undefined {
  const decision = decideDisk(members).find((one) => one.intent.metadata.name === intent.metadata.name);
  return decision !== undefined && "waitReason" in decision ? decision.waitReason : undefined;
}

/**
 * PURE. The disk that an agent requests and has no grant for. An intent with a grant keeps its disk until its release,
 * even if its agent finds another one: the first may be in use.
 */
export function askedBy({ metadata, spec, status }: Intent): string | undefined {
  if (metadata.deletionTimestamp !== undefined || spec.grant === undefined || spec.mode !== "Manage") return undefined;
  if (!isCompared(spec.source)) return undefined;
  return status.observedUID === metadata.uid && !spec.grant.disk ? status.disk : undefined;
}

function holdingOf({ intent, giving }: DiskMember): { intent: Intent; disk: string }[] {
  const { spec, status } = intent;
  // A grant of before there was that: its agent has not waited. What has no such disk names none, whatever its status
  // says.
  const found = isCompared(spec.source) ? status.disk : undefined;
  const held = spec.grant === undefined ? undefined : (spec.grant.disk ?? found);
  return [held, giving].flatMap((disk) => (disk ? [{ intent, disk }] : []));
}

function reads({ spec: { source } }: Intent): boolean {
  return (source.iscsi ?? source.fc)?.readOnly === true;
}

function heldBy(intent: Intent, disk: string): WaitReason {
  const { metadata, spec } = intent;
  const since = metadata.creationTimestamp ?? "an unknown time";
  const message = `node ${spec.nodeName} has the disk ${disk} as ${spec.volumeName} (${metadata.name}) since ${since}, and one node at a time may use it, whatever path leads there: wait until that one is released, or take its node out of the set's nodeSelector`;
  return { reason: "VolumeHeldElsewhere", message, on: onIntent(intent) };
}

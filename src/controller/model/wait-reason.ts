import type { Reason } from "../../api/reasons.ts";
import type { AttachStatus } from "../../api/types.gen.ts";
import { printable } from "../../api/values/printable.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import { sameJson } from "../../kube/same-json.ts";

/** Why an intent has no grant yet, or what is wrong with what its grant rests on. */
export interface WaitReason {
  readonly reason: Reason;
  readonly message: string;
  readonly on?: NonNullable<AttachStatus["on"]>;
}

/**
 * Bytes of a driver's own words that are shown (safety rule 22): the schema counts characters, so this is below both.
 */
const longestMessage = 1000;

/**
 * The patch of `status.attach` that has this reason, undefined if it stands there already. `since` stays while reason
 * and object stay. Pure.
 * @param volumeAttachment name of the VolumeAttachment, if there is one
 * @param now time of the transition, as metav1.Time
 */
export function attachPatch(
  before: AttachStatus | undefined,
  waitReason: WaitReason | undefined,
  volumeAttachment: string | undefined,
  now: string,
): { attach: object | null } | undefined {
  const same = waitReason !== undefined && before?.reason === waitReason.reason && sameJson(before.on, waitReason.on);
  const after: AttachStatus = {
    ...(waitReason && {
      ...waitReason,
      message: boundedMessage(waitReason.message),
      since: same ? (before.since ?? now) : now,
    }),
    ...(volumeAttachment !== undefined && { volumeAttachment }),
  };
  if (Object.keys(after).length === 0) return before === undefined ? undefined : { attach: null };
  const attach = mergeDiff(before ?? {}, after);
  return attach && { attach };
}

/** `text` in at most 1,000 bytes of UTF-8, on one line and without characters that a terminal or a reader obeys. */
export function boundedMessage(text: string): string {
  const clean = printable(text.replace(/\p{Cc}+/gu, " "));
  const encoder = new TextEncoder();
  if (encoder.encode(clean).length <= longestMessage) return clean;
  const { read } = encoder.encodeInto(clean, new Uint8Array(longestMessage - 3));
  return `${clean.slice(0, read)}…`;
}

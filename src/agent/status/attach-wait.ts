import { cut } from "../../api/conditions.ts";
import { isReason } from "../../api/reasons.ts";
import type { AttachStatus, Waiting } from "../../api/types.gen.ts";
import type { VolumeState } from "./volume-state.ts";

/**
 * PURE. Where a volume stands that waits to be granted, in the controller's own words: for people, who read one reason.
 * Nothing is decided by it.
 */
export function withAttach(volumeState: VolumeState, attach: AttachStatus | undefined): VolumeState {
  const { reason, message = "" } = attach ?? {};
  if (!waits(volumeState) || reason === undefined || !isReason(reason)) return volumeState;
  return { ...volumeState, reason, message };
}

/** What the agent does not know the controller may: it sees claims, attachments and other nodes. */
function waits({ state, reason }: VolumeState): boolean {
  return (
    state === "WaitingForAttach" ||
    state === "WaitingForGrant" ||
    reason === "WaitingForKubelet" ||
    reason === "DiskNotCompared"
  );
}

/** PURE. The same of what it waits for. */
export function attachWait(waiting: Waiting, { reason, message }: VolumeState, attach: AttachStatus): Waiting {
  if (attach.reason !== reason || waiting.reason === reason) return waiting;
  const { on, since = waiting.since } = attach;
  return { ...waiting, reason, message: cut(message, 1024), since, ...(on && { on }) };
}

import type { Reason } from "../../api/reasons.ts";
import { PodVolumeError } from "../../csi/server/ports.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Problem } from "../model/actual-volume.ts";

/** PURE. The error that makes kubelet retry its call: nothing is wrong with the request. */
export function waiting({ reason, message }: Problem): PodVolumeError {
  return new PodVolumeError("waiting", reason, message);
}

/** PURE. An error as a problem; `reason` is for errors that carry none themselves. */
export function problemOf(error: unknown, reason: Reason): Problem {
  return { reason: error instanceof VolumeError ? error.reason : reason, message: messageOf(error) };
}

/** PURE. The problem of a publish while the unmount of the same target still runs. */
export function unmounting(path: string): Problem {
  return { reason: "Unmounting", message: `${path} is being unmounted` };
}

/** PURE. The problem of a publish that kubelet has meanwhile undone by NodeUnpublishVolume, or whose pod has ended. */
export function unpublishRequested(path: string): Problem {
  return { reason: "Unmounting", message: `kubelet has given ${path} back, or the pod has ended` };
}

/** PURE. The problem of a publish whose pod was removed from the intent. */
export function hasLeft(intent: string): Problem {
  return {
    reason: "PodNotListed",
    message: `the intent ${intent} no longer lists the pod: it is ending, or its access was revoked`,
  };
}

/** PURE. The problem of a pod's target with a mount that no record names: it is not unmounted (law L6). */
export function foreign(path: string): Problem {
  const message = `${path} has something mounted of which there is no record: unmount it by hand`;
  return { reason: "ForeignMount", message, on: { kind: "Mount", name: path } };
}

/**
 * Answers a failed unpublish so that kubelet retries it.
 * @throws PodVolumeError always
 */
export function notTornDown(error: unknown): never {
  throw waiting(problemOf(error, "TearDownFailed"));
}

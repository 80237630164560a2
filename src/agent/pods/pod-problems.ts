import type { Reason } from "../../api/reasons.ts";
import { PodVolumeError } from "../../csi/server/ports.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Problem } from "../view.ts";

export function waiting({ reason, message }: Problem): PodVolumeError {
  return new PodVolumeError("waiting", reason, message);
}

export function problemOf(error: unknown, reason: Reason): Problem {
  return { reason: error instanceof VolumeError ? error.reason : reason, message: messageOf(error) };
}

export function unmounting(path: string): Problem {
  return { reason: "Unmounting", message: `${path} is being unmounted` };
}

export function givenBack(path: string): Problem {
  return { reason: "Unmounting", message: `kubelet has given ${path} back, or the pod has ended` };
}

export function hasLeft(intent: string): Problem {
  return {
    reason: "PodNotListed",
    message: `the intent ${intent} no longer lists the pod: it is ending, or its access was revoked`,
  };
}

export function foreign(path: string): Problem {
  const message = `${path} has something mounted of which there is no record: unmount it by hand`;
  return { reason: "ForeignMount", message, on: { kind: "Mount", name: path } };
}

export function notTornDown(error: unknown): never {
  throw waiting(problemOf(error, "TearDownFailed"));
}

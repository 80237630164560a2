import type { Reason } from "../../../api/reasons.ts";
import { type ErrorClass, VolumeError, type WaitingOn } from "../../../errors.ts";
import { type ChildResult, refusedCode } from "./child-runner.ts";

interface Refusal {
  readonly reason: Reason;
  readonly errorClass: ErrorClass;
  readonly message: string;
  readonly heldBy: readonly number[];
}

/** Why a child did nothing, as it writes it to stderr. */
export function refusalText({ reason, errorClass, message, heldBy }: VolumeError): string {
  return JSON.stringify({ reason, errorClass, message, heldBy } satisfies Refusal);
}

/** What a child has refused; undefined if it has refused nothing. */
export function refusalOf({ code, stderr }: ChildResult, on: WaitingOn): VolumeError | undefined {
  if (code !== refusedCode) return undefined;
  const { reason, errorClass, message, heldBy } = JSON.parse(stderr) as Refusal;
  return new VolumeError(reason, errorClass, message, { on, heldBy });
}

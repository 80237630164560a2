import type { Reason } from "./api/reasons.ts";

/**
 * What a failure implies about the attempted effect. This class decides the next state; the text never does.
 * - final: it did not happen, and the same call will not succeed until something changes.
 * - transient: it did not happen, and the state is what it was before.
 * - uncertain: it may have happened, or may still be happening. It must be retried if desired, and cleaned up if not.
 *   (kubelet behaviour 61)
 */
export type ErrorClass = "final" | "transient" | "uncertain";

/** Who or what a wait is for, as an object or as a thing of the host. */
export interface WaitingOn {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
}

/** A failure that users can meet: it has a reason with an entry in docs/reasons.md, and its message says what to do. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
  readonly reason: Reason;
  readonly errorClass: ErrorClass;
  readonly on: WaitingOn | undefined;
  /** Processes whose end may let the next attempt succeed. */
  readonly heldBy: readonly number[];

  constructor(
    reason: Reason,
    errorClass: ErrorClass,
    message: string,
    options: { cause?: unknown; on?: WaitingOn; heldBy?: readonly number[] } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.errorClass = errorClass;
    this.on = options.on;
    this.heldBy = options.heldBy ?? [];
  }
}

const longest = 1024;

/** PURE. The same, with both ends of a long message. Secrets must be out of it before: half of one goes unnoticed. */
export function boundedError(error: VolumeError): VolumeError {
  const { message, reason, errorClass, on, heldBy, cause } = error;
  if (message.length <= longest) return error;
  const half = longest / 2;
  const ends = `${message.slice(0, half - 1)}…${message.slice(-half)}`.toWellFormed();
  return new VolumeError(reason, errorClass, ends, { cause, ...(on && { on }), heldBy });
}

/** PURE. Whatever was thrown, as a failure that users can be told of. @param reason of what is no VolumeError */
export function asVolumeError(thrown: unknown, reason: Reason): VolumeError {
  if (thrown instanceof VolumeError) return thrown;
  return new VolumeError(reason, "transient", messageOf(thrown), { cause: thrown });
}

/**
 * PURE. Whether an operation failed because its child process was abandoned and may still act. False if the operation
 * was refused because of an earlier abandoned child.
 */
export function isAbandoned(thrown: unknown): boolean {
  return thrown instanceof VolumeError && thrown.reason === "OperationAbandoned" && thrown.errorClass === "uncertain";
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Marks the end of a switch over a union: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`not reachable: ${JSON.stringify(value)}`);
}

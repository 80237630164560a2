import type { Reason } from "../../api/reasons.ts";
import type { ErrorClass, WaitingOn } from "../../errors.ts";
import type { MountPath, VolumeName } from "./identities.ts";
import type { OperationKind } from "./operation.ts";

/** How the last attempt at one place of a volume failed. */
export interface Failure {
  readonly kind: OperationKind;
  readonly generation: number;
  readonly reason: Reason;
  readonly errorClass: ErrorClass;
  readonly message: string;
  readonly on?: WaitingOn;
  /** Processes whose end may let the next attempt succeed. */
  readonly heldBy?: readonly number[];
  readonly attempts: number;
  /** Attempts that an event started before their time (`resetBackoff`). They do not count for the next delay. */
  readonly resets?: number;
  /** Milliseconds of the monotonic clock: first attempt that failed, and when the next one may begin. */
  readonly firstAt: number;
  readonly nextAt: number;
  /** Wall time in milliseconds since the epoch, for people: last attempt and next one. */
  readonly time: number;
  readonly nextTime: number;
}

/** Where a failure happened: one target, or the volume as a whole. Different targets fail on their own. */
export interface Slot {
  readonly volume: VolumeName;
  /** Of the target; not given for the volume as a whole. */
  readonly path?: MountPath | undefined;
}

/** The last failures by volume, then by target path; undefined is the volume as a whole. A change makes a new value. */
export type Failures = ReadonlyMap<VolumeName, ReadonlyMap<MountPath | undefined, Failure>>;

/** PURE. The last failure at one place. */
export function failureOf(failures: Failures, { volume, path }: Slot): Failure | undefined {
  return failures.get(volume)?.get(path);
}

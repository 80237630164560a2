import type { VolumeError } from "../../errors.ts";
import { equalJitter } from "../../kube/backoff.ts";
import type { System } from "../../ports.ts";
import { type Failure, type Failures, failureOf, type Slot } from "../model/failure.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import type { Operation } from "../model/operation.ts";

/**
 * kubelet's exponentialbackoff (behaviour 53): 500 ms, doubled to 2 min 2 s. The delay has a jitter of up to half, so
 * that a recovered server does not get requests from all nodes at the same moment.
 */
const backoff = { baseMs: 500, maxMs: 122_000 };
/**
 * The longest delay after an attempt that ran into its deadline, in milliseconds. The attempt was delay enough, and
 * while one runs, a recovered server answers it at once; nothing else reports the recovery. The same limit applies
 * while a driver may still act (DriverMayStillAct).
 */
const afterDeadlineMs = 5_000;

/** The failure after one more, with its delay doubled if it is the same operation for the same spec (behaviour 52). */
export function nextFailure(
  previous: Failure | undefined,
  { clock, random }: Pick<System, "clock" | "random">,
  failed: Pick<Failure, "kind" | "generation" | "reason" | "errorClass" | "message" | "on" | "heldBy">,
): Failure {
  const now = clock.monotonic();
  const time = clock.now();
  const again = previous?.kind === failed.kind && previous.generation === failed.generation;
  const attempts = again ? previous.attempts + 1 : 1;
  const resets = again ? (previous.resets ?? 0) : 0;
  const soon = failed.reason === "TimedOut" || failed.reason === "DriverMayStillAct";
  const longest = soon ? afterDeadlineMs : backoff.maxMs;
  const delay = equalJitter(attempts - resets, { ...backoff, maxMs: longest }, random);
  const firstAt = again ? previous.firstAt : now;
  const counts = { attempts, ...(resets > 0 && { resets }) };
  return { ...failed, ...counts, firstAt, nextAt: now + delay, time, nextTime: time + delay };
}

/** The backoff of each volume and target: the last failure, and the time of the next retry. */
export class Backoff {
  readonly #system: Pick<System, "clock" | "random">;
  readonly #failures = new Map<VolumeName, ReadonlyMap<MountPath | undefined, Failure>>();

  constructor(system: Pick<System, "clock" | "random">) {
    this.#system = system;
  }

  /** Values are never changed in place: if a failure changes, its volume has another one. */
  get failures(): Failures {
    return this.#failures;
  }

  /** @returns the failure as it is remembered */
  failed(operation: Operation, generation: number, error: VolumeError): Failure {
    const previous = failureOf(this.#failures, operation);
    const failure = nextFailure(previous, this.#system, about(operation, generation, error));
    this.#set(operation, failure);
    return failure;
  }

  succeeded(operation: Operation): void {
    if (failureOf(this.#failures, operation) !== undefined) this.#set(operation, undefined);
  }

  /**
   * Ends the remaining delay, because the awaited event may have come. If the retry fails, the next delay is as long as
   * this one was: superfluous events must not lengthen the backoff. The caller triggers the loop.
   * @returns whether there was a delay to end
   */
  resetBackoff(slot: Slot): boolean {
    const failure = failureOf(this.#failures, slot);
    const { clock } = this.#system;
    if (failure === undefined || failure.nextAt <= clock.monotonic()) return false;
    const resets = (failure.resets ?? 0) + 1;
    this.#set(slot, { ...failure, resets, nextAt: clock.monotonic(), nextTime: clock.now() });
    return true;
  }

  /** Forgets those of volumes that are gone. */
  keepOnly(volumes: { has(name: string): boolean }): void {
    for (const name of this.#failures.keys()) if (!volumes.has(name)) this.#failures.delete(name);
  }

  #set({ volume, path }: Slot, failure: Failure | undefined): void {
    const ofVolume = new Map(this.#failures.get(volume));
    if (failure === undefined) ofVolume.delete(path);
    else ofVolume.set(path, failure);
    if (ofVolume.size === 0) this.#failures.delete(volume);
    else this.#failures.set(volume, ofVolume);
  }
}

function about({ kind }: Operation, generation: number, { reason, errorClass, message, on, heldBy }: VolumeError) {
  return { kind, generation, reason, errorClass, message, ...(on && { on }), ...(heldBy.length > 0 && { heldBy }) };
}

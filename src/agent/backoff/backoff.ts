import type { VolumeError } from "../../errors.ts";
import { equalJitter } from "../../kube/backoff.ts";
import type { System } from "../../ports.ts";
import type { Failure, Slot } from "../model/failure.ts";
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

/** PURE. The key of an operation's backoff: the volume and the target path, or the volume alone. */
export function slotOf(operation: Operation): Slot {
  return `${operation.volume}\n${"path" in operation ? operation.path : ""}`;
}

/** PURE. The volume's name in a backoff key. */
export function volumeOf(slot: Slot): string {
  return slot.slice(0, slot.indexOf("\n"));
}

/** Path of the target; "" of the volume as a whole. */
export function pathOf(slot: Slot): string {
  return slot.slice(slot.indexOf("\n") + 1);
}

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
  readonly #bySlot = new Map<Slot, Failure>();

  constructor(system: Pick<System, "clock" | "random">) {
    this.#system = system;
  }

  /** Never changed in place: a failure that changes is another object. */
  get bySlot(): ReadonlyMap<Slot, Failure> {
    return this.#bySlot;
  }

  /** @returns the failure as it is remembered */
  failed(operation: Operation, generation: number, error: VolumeError): Failure {
    const slot = slotOf(operation);
    const failure = nextFailure(this.#bySlot.get(slot), this.#system, about(operation, generation, error));
    this.#bySlot.set(slot, failure);
    return failure;
  }

  succeeded(operation: Operation): void {
    this.#bySlot.delete(slotOf(operation));
  }

  /**
   * Ends the remaining delay, because the awaited event may have come. If the retry fails, the next delay is as long as
   * this one was: superfluous events must not lengthen the backoff. The caller triggers the loop.
   * @returns whether there was a delay to end
   */
  resetBackoff(slot: Slot): boolean {
    const failure = this.#bySlot.get(slot);
    const { clock } = this.#system;
    if (failure === undefined || failure.nextAt <= clock.monotonic()) return false;
    const resets = (failure.resets ?? 0) + 1;
    this.#bySlot.set(slot, { ...failure, resets, nextAt: clock.monotonic(), nextTime: clock.now() });
    return true;
  }

  /** Forgets those of volumes that are gone. */
  keepOnly(volumes: { has(name: string): boolean }): void {
    for (const slot of this.#bySlot.keys()) if (!volumes.has(volumeOf(slot))) this.#bySlot.delete(slot);
  }
}

function about({ kind }: Operation, generation: number, { reason, errorClass, message, on, heldBy }: VolumeError) {
  return { kind, generation, reason, errorClass, message, ...(on && { on }), ...(heldBy.length > 0 && { heldBy }) };
}

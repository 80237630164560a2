import { wakersOf } from "../../api/reasons.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { Wakeups as WakePorts, WatchUnavailable } from "../../host/ports/wakeups.ts";
import { type ContentRef, contentKey } from "../../plugins/api/content.ts";
import type { Cancel, System } from "../../ports.ts";
import { refsOf } from "../content/content-of.ts";
import { failureOf } from "../model/failure.ts";
import type { VolumeName } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { Plan, PlanListener } from "../model/volume-plan.ts";
import type { Backoff } from "./backoff.ts";
import { TriggerWatcher } from "./trigger-watcher.ts";
import { changedMounts, concerns, isOfDriver, triggersFor, type Waiter } from "./triggers-for.ts";

/** Dependencies of ending backoff delays early, when an event comes that a volume waits for. */
export interface RetryTriggersDeps {
  readonly system: System;
  readonly wakeups: WakePorts;
  readonly settings: PlanSettings;
  readonly backoff: Backoff;
  readonly metrics: { woken(by: string): void; unwatched(sources: ReadonlyMap<WatchUnavailable, number>): void };
  /** Volumes of which an operation runs now. */
  running(): { has(volume: VolumeName): boolean };
  /** Looks again soon. */
  trigger(): void;
}

/**
 * Ends the backoff of failed operations as soon as the awaited event may have come. Follows the newest plan. A missed
 * event only means that the retry comes with the backoff delay.
 */
export class RetryTriggers implements PlanListener {
  readonly #deps: RetryTriggersDeps;
  readonly #listening: TriggerWatcher<Waiter>;
  readonly #children = new Map<string, Cancel>();
  /** By key of the waiter, as those below. */
  readonly #budgets = new Map<string, TriggerLimit>();
  /** Wakes for which the budget was used up. */
  readonly #putOff = new Map<string, Cancel>();
  /** Volumes of waiters that were woken while an attempt ran that may not have seen why. */
  readonly #owed = new Map<string, VolumeName>();
  #waiters: ReadonlyMap<string, Waiter> = new Map();
  #table: MountTable | undefined;

  constructor(deps: RetryTriggersDeps) {
    this.#deps = deps;
    this.#listening = new TriggerWatcher({
      wakeups: deps.wakeups,
      log: deps.system.log,
      woken: (waiter, by) => this.#wake(waiter, by),
      unwatched: (sources) => deps.metrics.unwatched(sources),
    });
  }

  /** Watches the events that failed operations wait for, and no others. */
  planned(plan: Plan, table: MountTable | undefined): void {
    const { settings } = this.#deps;
    this.#waiters = this.#waitersOf(plan);
    const waiters = [...this.#waiters.values()];
    this.#listening.follow(waiters.map((waiter) => [waiter, triggersFor(waiter, settings)]));
    this.#payDebts();
    this.#compare(table);
    this.#forget();
  }

  /** Triggers the loop when one of these processes has ended: their volumes are blocked until then. */
  followChildren(children: Iterable<ChildProcessID>): void {
    const wanted = new Map([...children].map((child) => [`${child.pid} ${child.startTime}`, child]));
    for (const [key, cancel] of this.#children) {
      if (wanted.has(key)) continue;
      cancel();
      this.#children.delete(key);
    }
    for (const [key, child] of wanted) {
      if (this.#children.has(key)) continue;
      // Then it is asked for now and then.
      const listener = { woken: () => this.#deps.trigger(), unavailable: () => {} };
      this.#children.set(key, this.#deps.wakeups.process(child, listener));
    }
  }

  /** The content of something has changed, or may be read now. */
  contentChanged(ref: ContentRef): void {
    const key = contentKey(ref);
    for (const waiter of this.#waiters.values()) {
      const shown = refsOf(waiter.volume.desired) ?? [];
      if (shown.some((each) => contentKey(each) === key)) this.#wake(waiter, "content");
    }
  }

  /** A CSI driver came, went or was replaced. */
  driverChanged(name: string): void {
    for (const waiter of this.#waiters.values()) {
      const { failure, volume } = waiter;
      if (isOfDriver(volume, name) && wakersOf(failure.reason).has("driver")) this.#wake(waiter, "driver");
    }
  }

  /** Stops watching. */
  stop(): void {
    this.#listening.follow([]);
    for (const cancel of [...this.#putOff.values(), ...this.#children.values()]) cancel();
    this.#putOff.clear();
    this.#children.clear();
  }

  /** Failures of the spec as it is now; what failed for an earlier one is not waited for. */
  #waitersOf({ volumes }: Plan): Map<string, Waiter> {
    const waiters = new Map<string, Waiter>();
    for (const [name, failures] of this.#deps.backoff.failures) {
      const volume = volumes.get(name);
      if (volume === undefined) continue;
      const generation = volume.desired?.generation ?? volume.record?.generation ?? 0;
      for (const [path, failure] of failures) {
        const waiter = { path, failure, volume };
        if (failure.generation === generation) waiters.set(keyOf(waiter), waiter);
      }
    }
    return waiters;
  }

  #compare(table: MountTable | undefined): void {
    const before = this.#table;
    this.#table = table ?? before;
    if (table === undefined || before === undefined || table === before || this.#waiters.size === 0) return;
    const changed = changedMounts(before, table);
    for (const waiter of this.#waiters.values()) {
      if (changed.some((mount) => concerns(waiter, mount))) this.#wake(waiter, "mounts");
    }
  }

  /** An attempt has failed during which something happened: it may not have seen that. */
  #payDebts(): void {
    for (const [key, volume] of this.#owed) {
      if (this.#deps.running().has(volume)) continue;
      this.#owed.delete(key);
      const waiter = this.#waiters.get(key);
      if (waiter !== undefined) this.#wake(waiter, "owed");
    }
  }

  #wake(waiter: Waiter, by: string): void {
    const { backoff, system, metrics, trigger } = this.#deps;
    const { path, volume } = waiter;
    const key = keyOf(waiter);
    if (this.#putOff.has(key)) return;
    if (this.#deps.running().has(volume.name)) {
      this.#owed.set(key, volume.name);
      return;
    }
    const now = system.clock.monotonic();
    const slot = { volume: volume.name, path };
    if ((failureOf(backoff.failures, slot)?.nextAt ?? now) <= now) return; // it is tried again already
    const taken = takeTrigger(this.#budgets.get(key), now);
    if ("waitMs" in taken) {
      const again = () => {
        this.#putOff.delete(key);
        this.#wake(waiter, by);
      };
      this.#putOff.set(key, system.timers.after(taken.waitMs, again));
      return;
    }
    this.#budgets.set(key, taken.left);
    metrics.woken(by);
    if (backoff.resetBackoff(slot)) trigger();
  }

  #forget(): void {
    const now = this.#deps.system.clock.monotonic();
    for (const [key, cancel] of this.#putOff) {
      if (this.#waiters.has(key)) continue;
      cancel();
      this.#putOff.delete(key);
    }
    for (const [key, budget] of this.#budgets) if (isFull(budget, now)) this.#budgets.delete(key);
  }
}

/** The same for each failure of the same target, or of the same volume as a whole. It is never parsed. */
function keyOf({ volume, path }: Waiter): string {
  return `${volume.name}\n${path ?? ""}`;
}

/**
 * How often a wait may end before its time. Whoever can make events, a pod that makes and removes a directory all day
 * for example, must not undo the backoff: eight attempts are free, and each quarter of a minute another one. An event
 * beyond that is not lost but put off.
 */
const most = 8;
const refillMs = 15_000;

/** What is left of it for one place of one volume. */
export interface TriggerLimit {
  readonly left: number;
  /** Milliseconds of the monotonic clock at which that was so. */
  readonly at: number;
}

/**
 * PURE. Takes one early attempt out of the budget.
 * @returns what is left, or how many milliseconds to wait for enough
 */
export function takeTrigger(
  budget: TriggerLimit | undefined,
  now: number,
): { left: TriggerLimit } | { waitMs: number } {
  const left = budget === undefined ? most : Math.min(most, budget.left + (now - budget.at) / refillMs);
  if (left >= 1) return { left: { left: left - 1, at: now } };
  return { waitMs: Math.ceil((1 - left) * refillMs) };
}

/** PURE. Whether nothing is missing from it, so that it need not be remembered. */
export function isFull({ left, at }: TriggerLimit, now: number): boolean {
  return left + (now - at) / refillMs >= most;
}

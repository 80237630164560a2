import { messageOf } from "../errors.ts";
import type { Cancel, System } from "../ports.ts";
import type { BackoffLimits } from "./backoff.ts";
import { equalJitter } from "./backoff.ts";
import { ApiError } from "./client/api-error.ts";
import { Waiters } from "./waiters.ts";

/** Milliseconds after which a key is run again although nothing adds it: controller-runtime's `RequeueAfter`. */
export type RequeueAfter = number;

/**
 * What is done for a key of a queue. It reads the present state: a key says that something changed, not what. Rejects
 * if the key is to be retried with backoff; if it resolves with a time, the key is run again after it.
 */
export type Reconcile = (key: string) => Promise<RequeueAfter | undefined>;

/** Dependencies of a work queue. */
export interface KeyedQueueDeps {
  readonly system: System;
  /** For log lines and metrics. */
  readonly name: string;
  /** Keys that may run at the same time. */
  readonly concurrency: number;
  readonly run: Reconcile;
  /** Milliseconds that an added key waits, so that changes which come together become one run. 0 if not given. */
  readonly delayMs?: number;
  readonly backoff?: BackoffLimits;
  /** Whether an add of a key that failed waits for its retry, too. False if not given. */
  readonly patient?: boolean;
  readonly onRun?: (result: "success" | "failure", durationMs: number) => void;
}

/**
 * Work by key: one run at a time for each key, keys beside each other up to `concurrency`. A key that is added while it
 * waits is run once; one that is added while it runs is run once more afterwards. A run that fails is repeated with a
 * growing delay, which an add does not wait for (unless the queue is patient) and a success forgets. A delay that the
 * server asked for is kept.
 */
export interface KeyedQueue<Key extends string = string> {
  add(key: Key): void;
  /** Adds the key after at least `ms` milliseconds, or earlier if it was already to be added earlier. */
  addAfter(key: Key, ms: number): void;
  /** Resets the backoff of a key, or of all: the next add does not wait for the retry. */
  resetBackoff(key?: Key): void;
  /**
   * Starts no run and forgets what was added, until resume. Runs that are under way go on; resolves when they have
   * ended.
   */
  pause(): Promise<void>;
  resume(): void;
  /** As pause, for good; resolves when the last run has ended. */
  stop(): Promise<void>;
  /** Resolves when no key is due or running. Keys that wait for their time do not count. */
  settled(): Promise<void>;
  /** Keys that are due or running. */
  readonly depth: number;
}

const defaultBackoff = { baseMs: 250, maxMs: 60_000 };

/**
 * A work queue as client-go's workqueue with rate limits: a key runs once at a time, is worked on once more if it is
 * added meanwhile, and with backoff if it fails.
 */
export function createKeyedQueue(deps: KeyedQueueDeps): KeyedQueue {
  const { clock, yielder, random } = deps.system;
  const log = deps.system.log.child({ queue: deps.name });
  const due = new Set<string>();
  const running = new Set<string>();
  const timed = new Delays(deps.system, makeDue);
  const failures = new Map<string, number>();
  let state: "open" | "paused" | "stopped" = "open";
  let pumping = false;
  /** Those who wait for the runs that are under way, and for what is due besides. */
  const [drained, settled] = [new Waiters(), new Waiters()];

  function makeDue(key: string): void {
    due.add(key);
    schedulePump();
  }

  /**
   * Not at once: add is called from store notifications, which a run must not interrupt. And runs that await nothing
   * follow each other without a break: sockets and timers must get their turn between them.
   */
  function schedulePump(): void {
    if (pumping) return;
    pumping = true;
    void (yielder.over() ? yielder.next() : Promise.resolve()).then(pump);
  }

  function pump(): void {
    pumping = false;
    for (const key of due) {
      if (state !== "open" || running.size >= deps.concurrency) return;
      if (running.has(key)) continue;
      due.delete(key);
      running.add(key);
      void runOnce(key);
      if (due.size > 0 && yielder.over()) {
        schedulePump();
        return;
      }
    }
  }

  async function runOnce(key: string): Promise<void> {
    const startedAt = clock.monotonic();
    try {
      const requeueAfter = await deps.run(key);
      failures.delete(key);
      if (requeueAfter !== undefined) addAfter(key, requeueAfter);
      deps.onRun?.("success", clock.monotonic() - startedAt);
    } catch (error) {
      failed(key, error);
      deps.onRun?.("failure", clock.monotonic() - startedAt);
    }
    running.delete(key);
    if (running.size === 0) drained.resolve();
    if (due.size > 0) schedulePump();
    else if (running.size === 0) settled.resolve();
  }

  function failed(key: string, error: unknown): void {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const retryInMs = Math.max(asked, equalJitter(count, deps.backoff ?? defaultBackoff, random));
    log.warn("run failed", { key, failures: count, retryInMs, error: messageOf(error) });
    if (deps.patient) due.delete(key); // what was added while it ran waits, too
    if (state === "open") timed.put(key, retryInMs);
  }

  const isHeldBack = (key: string) => deps.patient === true && failures.has(key) && timed.has(key);

  function addAfter(key: string, ms: number): void {
    if (state === "open" && !isHeldBack(key)) timed.put(key, ms);
  }

  function forget(): void {
    timed.clear();
    due.clear();
    failures.clear();
    if (running.size === 0) settled.resolve();
  }

  const whenDrained = () => (running.size === 0 ? Promise.resolve() : drained.wait());

  return {
    add(key) {
      if (state !== "open" || due.has(key) || isHeldBack(key)) return;
      if (deps.delayMs) addAfter(key, deps.delayMs);
      else makeDue(key);
    },
    addAfter,
    resetBackoff(key) {
      if (key === undefined) failures.clear();
      else failures.delete(key);
    },
    pause() {
      if (state === "open") state = "paused";
      forget();
      return whenDrained();
    },
    resume() {
      if (state === "paused") state = "open";
    },
    stop() {
      state = "stopped";
      forget();
      return whenDrained();
    },
    settled: () => (due.size + running.size === 0 ? Promise.resolve() : settled.wait()),
    get depth() {
      return due.size + running.size;
    },
  };
}

/** Keys that wait for their time, each for the earliest that was asked for. */
class Delays {
  readonly #system: Pick<System, "clock" | "timers">;
  readonly #onDue: (key: string) => void;
  readonly #waiting = new Map<string, { readonly at: number; readonly cancel: Cancel }>();

  constructor(system: Pick<System, "clock" | "timers">, onDue: (key: string) => void) {
    this.#system = system;
    this.#onDue = onDue;
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  put(key: string, ms: number): void {
    const at = this.#system.clock.monotonic() + ms;
    const earlier = this.#waiting.get(key);
    if (earlier !== undefined && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = this.#system.timers.after(ms, () => {
      this.#waiting.delete(key);
      this.#onDue(key);
    });
    this.#waiting.set(key, { at, cancel });
  }

  clear(): void {
    for (const { cancel } of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }
}

import type { Cancel, Clock, Timers } from "../../src/ports.ts";

interface Event {
  readonly at: number;
  /** Order of events that fall due at the same time: the order in which they were asked for. */
  readonly order: number;
  action: (() => void) | undefined;
}

/**
 * Events after which Node sees to its own affairs (timers of the test runner), which ticks alone would keep waiting for
 * ever.
 */
const breathEvery = 256;

/** 2026-01-01T00:00:00Z, where every simulated world begins. */
const epoch = 1_767_225_600_000;

/**
 * Virtual time. Nothing happens by itself: run() takes the next event, moves the time to it, runs it, and lets every
 * promise that became ready run to its end before anything else happens.
 */
export class Scheduler {
  readonly #heap: Event[] = [];
  #now = 0;
  #order = 0;
  #fired = 1;

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  readonly clock: Clock = { now: () => epoch + Math.floor(this.#now), monotonic: () => this.#now };

  readonly timers: Timers = { after: (ms, action) => this.after(ms, action) };

  after(ms: number, action: () => void): Cancel {
    // A wait that is too short for the clock to show takes a millisecond, the least of Node's timers: else who asks
    // again for the rest of a deadline would do so for ever.
    const at = this.#now + Math.max(0, ms);
    const event: Event = { at: ms > 0 && at === this.#now ? at + 1 : at, order: this.#order++, action };
    this.#push(event);
    return () => {
      event.action = undefined;
    };
  }

  /** What was begun outside of an event, by a story, goes as far as it can without time passing. */
  catchUp(): Promise<void> {
    return drained();
  }

  /**
   * Takes one event after the other until `isOver`, which is asked before each, or until the next one is later than
   * `until`: then the time is `until`.
   * @returns whether it was over; rejects with what `isOver` throws
   */
  run(until: number, isOver: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const onward = () => void (this.#fired++ % breathEvery === 0 ? setImmediate(next) : process.nextTick(next));
      const next = () => {
        try {
          if (isOver()) resolve(true);
          else if (!this.#fire(until)) resolve(false);
          else void ready.then(onward); // a tick asked for in a tick would come before what became ready
        } catch (error) {
          reject(error);
        }
      };
      const ready = Promise.resolve();
      next();
    });
  }

  #fire(until: number): boolean {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#pop();
      const { action } = next;
      if (action === undefined) continue; // cancelled
      this.#now = next.at;
      action();
      return true;
    }
    this.#now = until;
    return false;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isEarlier(event, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = heap[child];
      const right = heap[child + 1];
      if (left === undefined) break;
      if (right !== undefined && isEarlier(right, left)) child++;
      const smaller = heap[child];
      if (smaller === undefined || !isEarlier(smaller, last)) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
  }
}

function isEarlier(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Node runs everything that is ready, promises of promises included, before it comes to the next tick. */
function drained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

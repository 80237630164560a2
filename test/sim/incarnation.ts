import type { Cancel, Logger, LogMeta, System, Timers } from "../../src/ports.ts";
import { type Ending, type Faults, type Hit, kindOfEffect } from "./faults.ts";
import type { HostFault } from "./host/host-fault.ts";
import type { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Sightings } from "./sightings.ts";
import type { Trace } from "./trace.ts";

export interface IncarnationDeps {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly trace: Trace;
  readonly sightings: Sightings;
  /** How far its clock is from ours. */
  skewMs?(): number;
  /** Asked for each read of a mount table: how it fails, if it does. */
  tableFault?(): Error | undefined;
  /** Asked for each effect on the host: how it fails, if it does. */
  hostFault?(): HostFault | undefined;
  /** Told of each effect, right before it happens. */
  onEffect?(what: string): void;
  /** Told of every log line, before it is forgotten. */
  onLog(line: () => string): void;
  /** Told when an effect ends this process. It is not alive any more then. */
  onCrash(ending: Ending): void;
}

/** How long something takes: from `low` to `high` milliseconds. */
export interface Latency {
  readonly low: number;
  readonly high: number;
}

/**
 * One run of one process. Everything that it does to the world goes through here, so that it can end at any effect:
 * then nothing of it runs any more, its timers do not fire, and what it waits for never comes.
 */
export class Incarnation {
  readonly name: string;
  readonly system: System;
  readonly #deps: IncarnationDeps;
  readonly #atEnd: (() => void)[] = [];
  #alive = true;

  constructor(deps: IncarnationDeps) {
    this.#deps = deps;
    this.name = deps.name;
    const { scheduler, random } = deps;
    const { clock } = scheduler;
    const own = { now: () => clock.now() + (deps.skewMs?.() ?? 0), monotonic: () => clock.monotonic() };
    const timers = this.#timers();
    const yielder = { over: () => false, next: () => new Promise<void>((resolve) => timers.after(0, resolve)) };
    this.system = { clock: own, timers, yielder, random, log: this.#logger({}) };
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Ends it from outside. */
  end(): void {
    this.#alive = false;
    for (const action of this.#atEnd.splice(0)) action();
  }

  /** Runs `action` when the process ends, in whatever way: what the kernel or the network then does by itself. */
  atEnd(action: () => void): void {
    this.#atEnd.push(action);
  }

  /**
   * Something that changes the world, at one moment within `latency`.
   * @param tear does a part of it, if it can be cut off in the middle
   */
  effect<T>(what: string, latency: Latency, apply: () => T, tear?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.later(latency, () => this.perform(what, this.failing(what, apply, tear), { tear, resolve, reject }));
    });
  }

  /** The same effect on the host, which may fail. What can be cut off in the middle is, if it did not happen wholly. */
  failing<T>(what: string, apply: () => T, tear?: () => void): () => T {
    const fault = this.#deps.hostFault?.();
    if (fault === undefined) return apply;
    return () => {
      this.#deps.trace.add(this.name, `FAULT ${fault.error.message}${fault.happened ? ", but it happens" : ""}`);
      this.#deps.sightings.add("host fault", `${kindOfEffect(what)}${fault.happened ? ", carried out" : ""}`);
      this.#deps.sightings.add("host error", fault.error.message);
      if (fault.happened) apply();
      else tear?.();
      throw fault.error;
    };
  }

  /** @throws Error if the mount table cannot be read now */
  readTable(): void {
    const error = this.#deps.tableFault?.();
    if (error === undefined) return;
    this.#deps.trace.add(this.name, `FAULT ${error.message}: the mount table cannot be read`);
    this.#deps.sightings.add("host fault", "mount table");
    throw error;
  }

  /** A look at the world. */
  look<T>(latency: Latency, read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.later(latency, () => settle(read, resolve, reject));
    });
  }

  /** The moment of an effect: it happens, or the process ends before, in the middle of, or right after it. */
  perform<T>(
    what: string,
    apply: () => T,
    then: { tear?: (() => void) | undefined; resolve(value: T): void; reject(error: unknown): void },
  ): void {
    const { faults, trace } = this.#deps;
    const hit = faults.next({ process: this.name, what, canTear: then.tear !== undefined });
    trace.add(this.name, `${faults.effects.length} ${what}`);
    this.#deps.onEffect?.(what);
    if (hit === undefined) {
      settle(apply, then.resolve, then.reject);
      return;
    }
    if (hit.moment === "torn") then.tear?.();
    if (hit.moment === "after") settle(apply, ignore, ignore);
    this.#crash(hit, what);
  }

  /** Runs `action` within `latency`, if the process still lives then. */
  later({ low, high }: Latency, action: () => void): Cancel {
    return this.#deps.scheduler.after(this.#deps.random.between(low, high), () => {
      if (this.#alive) action();
    });
  }

  #timers(): Timers {
    return {
      after: (ms, action) =>
        this.#deps.scheduler.after(ms, () => {
          if (this.#alive) action();
        }),
    };
  }

  #crash({ ending, moment }: Hit, what: string): void {
    const { trace, faults, sightings } = this.#deps;
    trace.add(this.name, `CRASH (${ending}) ${moment} effect ${faults.effects.length}`);
    sightings.add(ending, `${moment} ${kindOfEffect(what)}`);
    this.end();
    this.#deps.onCrash(ending);
  }

  #logger(base: LogMeta): Logger {
    const write = (level: string) => (message: string, meta?: LogMeta) => {
      const line = () => `log ${level}: ${message} ${JSON.stringify({ ...base, ...meta })}`;
      this.#deps.onLog(line);
      this.#deps.trace.add(this.name, line);
    };
    return {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      child: (meta) => this.#logger({ ...base, ...meta }),
    };
  }
}

function ignore(): void {}

function settle<T>(run: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  let value: T;
  try {
    value = run();
  } catch (error) {
    reject(error);
    return;
  }
  resolve(value);
}

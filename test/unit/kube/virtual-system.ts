import type { KubeObject } from "../../../src/api/meta.ts";
import type { MutableStore } from "../../../src/kube/watch/object-store.ts";
import type { Logger, LogMeta, System } from "../../../src/ports.ts";

/**
 * A System whose time only moves when told to. Random is 0.5 unless given, uuids count up. No turn lasts too long,
 * unless `over` says so: what comes in pieces then goes on a millisecond later.
 */
export interface VirtualSystem extends System {
  readonly lines: { level: string; message: string; meta: LogMeta | undefined }[];
  /** Runs every timer that falls due within `ms`, each at its own time, with all promises settled in between. */
  advance(ms: number): Promise<void>;
  readonly pendingTimers: number;
}

export function virtualSystem(options: { random?: () => number; over?: () => boolean } = {}): VirtualSystem {
  let now = 0;
  let serial = 0;
  let uuids = 0;
  const timers = new Map<number, { at: number; action: () => void }>();
  const lines: VirtualSystem["lines"] = [];
  const write = (level: string) => (message: string, meta?: LogMeta) => void lines.push({ level, message, meta });
  const log: Logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => log,
  };
  const after = (ms: number, action: () => void) => {
    serial += 1;
    const id = serial;
    timers.set(id, { at: now + ms, action });
    return () => timers.delete(id);
  };
  return {
    clock: { now: () => 1_700_000_000_000 + now, monotonic: () => now },
    timers: { after },
    yielder: {
      over: options.over ?? (() => false),
      next: () => new Promise((resolve) => after(1, resolve)),
    },
    random: {
      next: options.random ?? (() => 0.5),
      uuid: () => {
        uuids += 1;
        return `00000000-0000-4000-8000-${String(uuids).padStart(12, "0")}`;
      },
    },
    log,
    lines,
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (;;) {
        const due = [...timers].filter(([, t]) => t.at <= until).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
        if (due === undefined) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].action();
        await settle();
      }
      now = until;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

/** Lets every promise chain that needs no timer and no I/O run to its end. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 200; i += 1) await Promise.resolve();
}

/** Replaces all that a store has, at once. */
export function replaceAll<T extends KubeObject>(store: MutableStore<T>, objects: readonly T[], version: string): void {
  for (const _ of store.replaceAll(objects, version)) {
    // Each step is one object.
  }
}

import { watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { watchMountTable } from "../../../src/host/linux/mount-table/mount-watch.ts";
import { mountLinesBeneath } from "../../lib/mount-lines.ts";
import type { Seeded } from "../../lib/seeded.ts";

/**
 * When an agent is killed: a while after its process was made, or after it said that it had started, or right after so
 * many events of one kind.
 */
export interface Moment {
  readonly after: "fork" | "start" | "journal" | "mount";
  readonly ms: number;
  readonly events: number;
}

/** Milliseconds in which an agent starts where nobody else wants the processors. */
const startMs = 200;
/** Milliseconds in which one that has started does what there is to do. */
const workMs = 250;
/**
 * Milliseconds after the start after which no further event is waited for, and between two looks whether any is to
 * come.
 */
const patienceMs = 2_000;
const lookMs = 50;
/** Milliseconds after an event, at most. */
const soonMs = 3;

/** Of chance alone: the same for the same seed, whatever the machine makes of it. */
export function momentOf(random: Seeded): Moment {
  const [roll, share, events] = [random.next(), random.next(), 1 + random.below(3)];
  if (roll < 0.1) return { after: "fork", ms: share * startMs, events: 0 };
  if (roll < 0.4) return { after: "start", ms: share * workMs, events: 0 };
  return { after: roll < 0.7 ? "journal" : "mount", ms: share * share * soonMs, events };
}

/** A node, as far as it is known from outside. */
export interface Watched {
  readonly path: string;
  /** Resolves when its agent has started, or is dead. */
  readonly starting: Promise<void>;
  /** Whether nothing is left to be done. */
  isAtRest(): boolean;
}

/** Resolves when it is time to kill. @returns whether the event that it waited for came */
export async function waitFor({ after, ms, events }: Moment, { path, starting, isAtRest }: Watched): Promise<boolean> {
  if (after === "fork" || after === "start") {
    if (after === "start") await starting;
    await sleep(ms);
    return false;
  }
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let left = events;
  const happened = () => {
    left -= 1;
    if (left === 0) resolve(true);
  };
  const stop = after === "journal" ? onJournal(path, happened) : onMount(path, happened);
  let over = false;
  void starting.then(async () => {
    const patience = performance.now() + patienceMs;
    while (!over && !isAtRest() && performance.now() < patience) await sleep(lookMs);
    resolve(false);
  });
  try {
    const came = await promise;
    const until = performance.now() + (came ? ms : 0);
    while (performance.now() < until); // timers are too coarse for what an agent does in a millisecond
    return came;
  } finally {
    over = true;
    stop();
  }
}

function onJournal(path: string, happened: () => void): () => void {
  const watcher = watch(`${path}/state`, (_event, name) => {
    if (name === "journal") happened();
  });
  return () => watcher.close();
}

function onMount(path: string, happened: () => void): () => void {
  const table = () => JSON.stringify(mountLinesBeneath(path));
  let last = table();
  return watchMountTable("/proc/self/mountinfo", undefined, () => {
    const now = table();
    if (now === last) return;
    last = now;
    happened();
  });
}

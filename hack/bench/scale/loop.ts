import { existsSync, readFileSync } from "node:fs";

/** What watch-loop.ts tells of each second. */
export interface LoopSecond {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The share of the time in which the event loop did not wait for anything. */
  readonly busy: number;
  /** The longest turn, in milliseconds. */
  readonly longestMs: number;
}

/** All that was told so far; a line that is not whole yet is left out. */
export function readLoop(file: string): LoopSecond[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LoopSecond);
}

/** Whether the loop mostly waited, in each second since `from`, of which there must be `seconds`. PURE. */
export function mostlyIdle(all: readonly LoopSecond[], from: number, seconds: number): boolean {
  const since = all.filter(({ at }) => at > from);
  return since.length >= seconds && since.every(({ busy }) => busy < 0.3);
}

/** The longest turn of all, in milliseconds. PURE. */
export function longestTurnOf(all: readonly LoopSecond[]): number {
  return all.reduce((longest, { longestMs }) => Math.max(longest, longestMs), 0);
}

import { readdirSync, readFileSync } from "node:fs";

/** Words of the command lines of this PID namespace's processes, by pid; none of what has ended. */
export function commandLines(): Map<number, readonly string[]> {
  const found = new Map<number, readonly string[]>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, "latin1").replace(/\0$/, "").split("\0"));
    } catch {
      // it has ended
    }
  return found;
}

/** Processes that were started with these words after the name of their program, and perhaps more. */
export function startedWith(args: readonly string[]): number[] {
  const begins = (words: readonly string[]) => args.every((arg, i) => words[i + 1] === arg);
  return [...commandLines()].filter(([, words]) => begins(words)).map(([pid]) => pid);
}

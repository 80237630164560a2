import type { System } from "../../ports.ts";

/** Resolves after `ms` milliseconds, or at once when `signal` comes. */
export function pause({ timers }: Pick<System, "timers">, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = timers.after(ms, done);
    signal?.addEventListener("abort", done);
  });
}

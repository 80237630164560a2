import type { System } from "../../ports.ts";
import type { WatchEnd } from "./watch-stream.ts";

/** Why a watch does not come about, for the log and for whoever waits for it. */
export interface WatchFailureLog {
  /** Logged when the cause is another one, and again every few minutes while it stays. */
  failed(end: WatchEnd): void;
  /** The watch shows something. Logged if its failure was. */
  over(): void;
  /** What the last failure was; undefined if there is none. */
  readonly cause: string | undefined;
}

/** Milliseconds after which the same cause is logged again. */
const repeatMs = 5 * 60_000;

/** Logs the failures of a watch: once when they begin, again when the cause changes, and when it works again. */
export function createWatchFailureLog({ clock, log }: Pick<System, "clock" | "log">): WatchFailureLog {
  let cause: string | undefined;
  /** Monotonic milliseconds of the first failure since the watch last showed anything. */
  let since = 0;
  let attempts = 0;
  let told: { readonly cause: string; readonly at: number } | undefined;
  let announced = false;

  return {
    failed({ kind, message }) {
      const now = clock.monotonic();
      if (cause === undefined) {
        since = now;
        attempts = 0;
      }
      cause = message;
      attempts += 1;
      // Also across a short return: a watch that comes and goes must not fill the log.
      if (told?.cause === cause && now - told.at < repeatMs) return;
      told = { cause, at: now };
      announced = true;
      log.warn("watch lost", { kind, reason: message, attempts, forMs: Math.round(now - since) });
    },
    over() {
      if (cause === undefined) return;
      cause = undefined;
      if (!announced) return;
      announced = false;
      log.info("watch is back", { attempts, afterMs: Math.round(clock.monotonic() - since) });
    },
    get cause() {
      return cause;
    },
  };
}

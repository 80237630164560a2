import { messageOf } from "../errors.ts";
import type { Cancel, System } from "../ports.ts";

export interface PolicyWatchDeps {
  readonly system: System;
  /**
   * Asks the API server whether the admission policies are in force. Resolves with the sentence that says which are not;
   * undefined if all are. Rejects if that cannot be known now.
   */
  readonly look: () => Promise<string | undefined>;
  /** Told of each change: what is not in force any more, or undefined once all is. */
  readonly onChange: (missing: string | undefined) => void;
}

/** Whether the admission policies are in force, looked at from time to time: nothing announces that one is gone. */
export interface PolicyWatch {
  start(): void;
  /** What is not in force, as last seen; undefined if all is, or nothing is known yet. */
  readonly missing: string | undefined;
  /** Ends the looks; resolves when none is under way. */
  stop(): Promise<void>;
}

/** Thousands of agents ask, each a dry run or two reads that nothing is written for: eight a second at 5,000 nodes. */
const periodMs = 10 * 60_000;
/** As long as something is missing, or not known: whoever applies config/policy waits for the word. */
const againMs = 60_000;

export function createPolicyWatch({ system, look, onChange }: PolicyWatchDeps): PolicyWatch {
  const { timers, random, log } = system;
  let missing: string | undefined;
  /** Whether the last look said anything. */
  let known = true;
  let stopped = false;
  let cancelNext: Cancel = () => {};
  let looking: Promise<void> = Promise.resolve();

  async function tick(): Promise<void> {
    try {
      const found = await look();
      known = true;
      if (!stopped && found !== missing) {
        missing = found;
        if (found === undefined) log.info("the admission policies are in force again");
        else log.error("admission policies are not in force", { reason: "PolicyMissing", missing: found });
        onChange(found);
      }
    } catch (error) {
      if (!stopped) {
        // An outage tells of itself once, not every minute.
        const message = "whether the admission policies are in force is not known";
        log[known ? "warn" : "debug"](message, { error: messageOf(error) });
      }
      known = false;
    }
    if (stopped) return;
    const ms = known && missing === undefined ? periodMs : againMs;
    cancelNext = timers.after(ms * (0.9 + random.next() * 0.2), next);
  }

  function next(): void {
    looking = tick();
  }

  return {
    start: next,
    get missing() {
      return missing;
    },
    async stop() {
      stopped = true;
      cancelNext();
      await looking;
    },
  };
}

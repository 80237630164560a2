import { type BackoffLimits, equalJitter } from "../../kube/backoff.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Intent } from "../model/projections.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/**
 * Backoff of failed writes. A failed write leaves traces (a grant marks its VolumeAttachment first), which come back by
 * the watches at once; these must not trigger the next attempt. A refusal that looks final may be accepted later, and
 * no watch reports that.
 */
export interface Retries {
  /**
   * Makes the attempt, if it is not too early for it. Another spec of the intent is tried at once.
   * @param write what the server has against it, if it refuses; anything that it throws is thrown on
   */
  run(intent: Intent, write: () => Promise<WaitReason | undefined>): Promise<Attempt>;
  /** An intent that is gone. */
  forget(intent: Intent): void;
}

/** The end of one attempt, or why there was none: its backoff delay has not passed. */
interface Attempt {
  readonly done: boolean;
  /** Of this attempt, or the last one. */
  readonly waitReason?: WaitReason | undefined;
  /** Milliseconds until the next attempt. */
  readonly againInMs?: number;
}

interface Failed {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly times: number;
  /** Of the next attempt, monotonic. */
  readonly at: number;
  readonly waitReason: WaitReason | undefined;
}

/** As those of the queues. */
const limits: BackoffLimits = { baseMs: 250, maxMs: 60_000 };

export function createRetries({ clock, random }: { readonly clock: Clock; readonly random: Random }): Retries {
  /** By name of the intent. */
  const failed = new Map<string, Failed>();

  function earlier({ metadata }: Intent): Failed | undefined {
    const known = failed.get(metadata.name);
    return known?.uid === metadata.uid && known?.generation === metadata.generation ? known : undefined;
  }

  function fail(intent: Intent, waitReason: WaitReason | undefined): number {
    const { name, uid, generation } = intent.metadata;
    const times = (earlier(intent)?.times ?? 0) + 1;
    const againInMs = equalJitter(times, limits, random);
    failed.set(name, { uid, generation, times, at: clock.monotonic() + againInMs, waitReason });
    return againInMs;
  }

  return {
    async run(intent, write) {
      const before = earlier(intent);
      const leftMs = before === undefined ? 0 : before.at - clock.monotonic();
      if (leftMs > 0) return { done: false, waitReason: before?.waitReason, againInMs: leftMs };
      try {
        const waitReason = await write();
        if (waitReason !== undefined) return { done: false, waitReason, againInMs: fail(intent, waitReason) };
      } catch (error) {
        fail(intent, before?.waitReason);
        throw error;
      }
      failed.delete(intent.metadata.name);
      return { done: true };
    },
    forget: ({ metadata }) => void failed.delete(metadata.name),
  };
}

import { timestamp } from "../../api/conditions.ts";
import { resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import { isConflict } from "../../kube/api-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Intent } from "../projections.ts";
import { refOf } from "../write-intents.ts";
import type { Teller } from "./teller.ts";
import { attachEvent } from "./volume-events.ts";
import { attachPatch, type Word } from "./word.ts";

/** Says in `status.attach` what an intent waits for. The agent may show it, and nobody decides by it. */
export interface Speaker {
  /**
   * @param volumeAttachment its name, if there is one; if not given, that which the word is on
   * @returns milliseconds after which the word is to be said, if it is too early
   */
  say(intent: Intent, word: Word | undefined, volumeAttachment?: string): Promise<number | undefined>;
  /** An intent that is gone. */
  forget(intent: Intent): void;
}

export interface SpeakerDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly upsertIntent: (raw: unknown) => void;
  readonly teller: Pick<Teller, "ofVolume">;
}

/**
 * What usually ends by itself at once is said only when it has lasted, and so is the same in other words or of somebody else:
 * each word costs the server a write, and the hand-over of a volume has one for each node that waits for it.
 */
const passing: ReadonlySet<Reason> = new Set(["WaitingForAttach", "Detaching"]);
const passingMs = 1_000;
const againMs = 100;

export function createSpeaker({ client, clock, log, upsertIntent, teller }: SpeakerDeps): Speaker {
  /** By name of the intent, since when a reason that may pass is to be said. */
  const since = new Map<string, { readonly reason: Reason; readonly at: number }>();

  function tooEarlyMs({ metadata, status }: Intent, word: Word | undefined): number {
    if (word === undefined || !(passing.has(word.reason) || status.attach?.reason === word.reason)) return 0;
    const known = since.get(metadata.name);
    const begun = known?.reason === word.reason ? known : { reason: word.reason, at: clock.monotonic() };
    since.set(metadata.name, begun);
    return Math.max(0, begun.at + passingMs - clock.monotonic());
  }

  return {
    async say(intent, word, volumeAttachment) {
      const { name } = intent.metadata;
      const attachment = volumeAttachment ?? (word?.on?.kind === "VolumeAttachment" ? word.on.name : undefined);
      const patch = attachPatch(intent.status.attach, word, attachment, timestamp(clock.now()));
      const earlyMs = patch === undefined ? 0 : tooEarlyMs(intent, word);
      if (earlyMs > 0) return earlyMs;
      since.delete(name);
      if (patch === undefined) return undefined;
      try {
        upsertIntent(await client.mergePatchStatus(resource.intents, refOf(intent), patch));
      } catch (error) {
        // The agent has written at the same moment; its version arrives, and is looked at.
        if (isConflict(error)) return againMs;
        throw error;
      }
      const event = attachEvent(intent.spec.nodeName, intent.status.attach, word);
      if (event !== undefined) teller.ofVolume(intent, event);
      log.info("attach state changed", { intent: name, reason: word?.reason ?? "none" });
      return undefined;
    },
    forget: ({ metadata }) => void since.delete(metadata.name),
  };
}

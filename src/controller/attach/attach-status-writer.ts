import { timestamp } from "../../api/conditions.ts";
import { resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import { isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock, Logger } from "../../ports.ts";
import { type Intent, refOf } from "../model/projections.ts";
import { attachPatch, type WaitReason } from "../model/wait-reason.ts";
import type { VolumeEventRecorder } from "./volume-event-recorder.ts";
import { attachEvent } from "./volume-events.ts";

/** The only writer of `status.attach`: what an intent waits for. The agent may show it, and nobody decides by it. */
export interface AttachStatusWriter {
  /**
   * @param volumeAttachment its name, if there is one; if not given, that which the reason is about
   * @returns milliseconds after which it is to be written, if it is too early
   */
  write(
    intent: Intent,
    waitReason: WaitReason | undefined,
    volumeAttachment?: string,
  ): Promise<RequeueAfter | undefined>;
  /** An intent that is gone. */
  forget(intent: Intent): void;
}

/** Dependencies of writing the controller's part of an intent's status. */
export interface AttachStatusWriterDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly upsertIntent: (raw: unknown) => void;
  readonly volumeEvents: Pick<VolumeEventRecorder, "ofVolume">;
}

/**
 * What usually ends by itself at once is said only when it has lasted, and so is the same in other words or of somebody
 * else: each reason costs the server a write, and the hand-over of a volume has one for each node that waits for it.
 */
const passing: ReadonlySet<Reason> = new Set(["WaitingForAttach", "Detaching"]);
const passingMs = 1_000;
const againMs = 100;

/** Remembers since when the reasons are there that usually end at once. */
export function createAttachStatusWriter(deps: AttachStatusWriterDeps): AttachStatusWriter {
  const { client, clock, log, upsertIntent, volumeEvents } = deps;
  /** By name of the intent, since when a reason that may pass is to be said. */
  const since = new Map<string, { readonly reason: Reason; readonly at: number }>();

  function tooEarlyMs({ metadata, status }: Intent, waitReason: WaitReason | undefined): number {
    if (waitReason === undefined || !(passing.has(waitReason.reason) || status.attach?.reason === waitReason.reason))
      return 0;
    const known = since.get(metadata.name);
    const begun = known?.reason === waitReason.reason ? known : { reason: waitReason.reason, at: clock.monotonic() };
    since.set(metadata.name, begun);
    return Math.max(0, begun.at + passingMs - clock.monotonic());
  }

  return {
    async write(intent, waitReason, volumeAttachment) {
      const { name } = intent.metadata;
      const attachment =
        volumeAttachment ?? (waitReason?.on?.kind === "VolumeAttachment" ? waitReason.on.name : undefined);
      const patch = attachPatch(intent.status.attach, waitReason, attachment, timestamp(clock.now()));
      const earlyMs = patch === undefined ? 0 : tooEarlyMs(intent, waitReason);
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
      const event = attachEvent(intent.spec.nodeName, intent.status.attach, waitReason);
      if (event !== undefined) volumeEvents.ofVolume(intent, event);
      log.info("attach state changed", { intent: name, reason: waitReason?.reason ?? "none" });
      return undefined;
    },
    forget: ({ metadata }) => void since.delete(metadata.name),
  };
}

import { annotation, apiVersion, resource } from "../../api/names.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel } from "../../ports.ts";
import { awaitsGrowth } from "../claims/expansion.ts";
import type { Intent } from "../model/projections.ts";
import type { Attachment, Claim } from "../model/storage-objects.ts";
import { isCSI } from "../model/volume-key.ts";
import { leftAttached } from "./obstacles.ts";
import { attachmentEvent, growthEvent, growthFailure, type VolumeEvent } from "./volume-events.ts";
import type { VolumeIndex } from "./volume-index.ts";

/**
 * Records Events about volumes: on the intent for administrators, and on the PVC for its owner, who may see nothing
 * else.
 */
export interface VolumeEventRecorder {
  /** On the intent and on every claim of its volume. */
  ofVolume(intent: Intent, event: VolumeEvent): void;
  ofClaims(claims: readonly Claim[], event: VolumeEvent): void;
  /**
   * On the claims, once for each attachment: it stays although its intent has gone, until somebody vouches for its
   * node.
   */
  kept(claims: readonly Claim[], attachment: Attachment): void;
  stop(): void;
}

/** Dependencies of Events about volumes. */
export interface VolumeEventRecorderDeps {
  readonly recorder: EventRecorder;
  readonly intents: ObjectStore<Intent>;
  readonly attachments: ObjectStore<Attachment>;
  readonly index: VolumeIndex;
  /** Whether all is known and this process leads: what is read for the first time is no transition. */
  readonly complete: () => boolean;
}

/** Records at transitions only: the same failure twice in a row is one Event. */
export function createVolumeEventRecorder(deps: VolumeEventRecorderDeps): VolumeEventRecorder {
  const { recorder, intents, attachments, index, complete } = deps;
  /** By name of the intent, the failure that was told: an attempt that fails as the one before is no news. */
  const failing = new Map<string, string>();
  /** UIDs of attachments of which it was told that they stay, by name. */
  const keptOnes = new Map<string, string>();

  function ofClaims(claims: readonly Claim[], event: VolumeEvent): void {
    for (const { metadata } of claims) {
      const { namespace, name, uid } = metadata;
      const object = { apiVersion: "v1", kind: resource.claims.kind, namespace, name, uid };
      recorder.event({ object, ...event });
    }
  }

  function ofIntent({ metadata: { name, uid } }: Intent, event: VolumeEvent): void {
    recorder.event({ object: { apiVersion, kind: resource.intents.kind, name, uid }, ...event });
  }

  function ofVolume(intent: Intent, event: VolumeEvent): void {
    ofIntent(intent, event);
    ofClaims(index.claims(index.keyOf(intent)), event);
  }

  function onAttachment(before: Attachment | undefined, after: Attachment | undefined): void {
    const one = after ?? before;
    const event = attachmentEvent(before, after);
    if (one === undefined || event === undefined || !complete()) return;
    const intent = intents.get(one.metadata.annotations?.[annotation.intent] ?? "");
    if (intent === undefined) ofClaims(index.claims(index.keyOfAttachment(one)), event);
    else ofVolume(intent, event);
  }

  function onIntent(before: Intent, after: Intent): void {
    if (!isCSI(after.spec.source) || before.metadata.uid !== after.metadata.uid || !complete()) return;
    const { name } = after.metadata;
    const failure = growthFailure(after.status);
    const event = growthEvent(after.spec.nodeName, before.status, after.status, failing.get(name));
    if (after.status.expansion === undefined) failing.delete(name);
    if (event === undefined) return;
    // That the volume has grown the claim is told when it has on every node (grow.ts).
    if (failure === undefined) {
      ofIntent(after, event);
      return;
    }
    // A volume that is set up is brought to its size, too: where no claim waits for that, it is no growth that fails.
    const waits = index.claims(index.keyOf(after)).some((claim) => {
      return awaitsGrowth(claim, index.objects.persistentVolume(claim.volumeName)?.capacity ?? "");
    });
    if (!waits) return;
    failing.set(name, failure);
    ofVolume(after, event);
  }

  const cancels: Cancel[] = [
    attachments.subscribe({
      onAdd: (after) => onAttachment(undefined, after),
      onUpdate: onAttachment,
      onDelete(before) {
        keptOnes.delete(before.metadata.name);
        onAttachment(before, undefined);
      },
    }),
    intents.subscribe({ onUpdate: onIntent, onDelete: ({ metadata }) => void failing.delete(metadata.name) }),
  ];
  return {
    ofVolume,
    ofClaims,
    kept(claims, attachment) {
      const { name, uid = "" } = attachment.metadata;
      if (keptOnes.get(name) === uid) return;
      keptOnes.set(name, uid);
      const { reason, message } = leftAttached(attachment);
      ofClaims(claims, { type: "Warning", reason, message });
    },
    stop() {
      for (const cancel of cancels) cancel();
    },
  };
}

import type { KubeClient } from "../../kube/client/client.ts";
import { joinReads } from "../../kube/client/joined-reads.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { onEach } from "../../kube/watch/looking.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel, System } from "../../ports.ts";
import { type AttachStatusWriter, createAttachStatusWriter } from "../attach/attach-status-writer.ts";
import { createExpectations, type Expectations } from "../attach/expectations.ts";
import { createIntentAttachments, type IntentAttachments } from "../attach/intent-attachments.ts";
import { createRetries, type Retries } from "../attach/retries.ts";
import { createVolumeEventRecorder } from "../attach/volume-event-recorder.ts";
import { createVolumeIndex } from "../attach/volume-index.ts";
import type { Storage } from "../cache/storage.ts";
import { type ClaimReservation, createClaimReservation } from "../claims/claim-reservation.ts";
import { followReserved } from "../claims/reserved-claims.ts";
import { createAttachmentAnswers } from "../grants/attachment-answers.ts";
import { createDiskGrants } from "../grants/disk-grants.ts";
import type { Gatherer } from "../intents/gather.ts";
import { isDisk } from "../model/disk-id.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import type { Attachment, Claim } from "../model/storage-objects.ts";
import { isCSI, unresolvedIntentOf, type VolumeKey, volumeIDOf } from "../model/volume-key.ts";
import { awaitsRelease } from "../release/decide-release.ts";
import { createUnbound, type Unbound } from "./unbound-claim-reconciler.ts";
import { reconcileVolume } from "./volume-reconciler.ts";

/** Dependencies of the controller's work on volumes: attach and grant, claims, expansion, and disks. */
export interface VolumeWorkDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  readonly storage: Storage;
  /** False: nothing is attached, to no node. */
  readonly controllerAttachDetach: boolean;
  readonly gatherer: Gatherer;
  readonly intents: ObjectStore<Intent>;
  readonly nodes: ObjectStore<NodeInfo>;
  readonly sameNode: (a: NodeInfo, b: NodeInfo) => boolean;
  readonly upsertIntent: (raw: unknown) => void;
  /** A volume is due, by its key. */
  readonly onDue: (key: VolumeKey) => void;
  /** Milliseconds after which to look again, if others may have written what the agent of a node says. */
  readonly doubtForMs: (node: string) => number | undefined;
  /** @returns milliseconds after which to look again, if any */
  readonly release: (intent: Intent, attachments: IntentAttachments | undefined) => Promise<RequeueAfter | undefined>;
}

/** What is done for volumes that not every node may have at once: resolve, take, attach, grant, detach, release. */
export interface VolumeWork {
  /** @returns milliseconds after which to look again, if any */
  reconcile(key: string): Promise<RequeueAfter | undefined>;
  /** Claims of any PersistentVolume of the volume, as far as they name it. */
  claims(key: VolumeKey): Claim[];
  /** The key that the end of an intent goes by. */
  keyOf(intent: Intent): VolumeKey;
  all(): void;
  /** This process leads anew: what it remembers of an earlier term may not be so any more. */
  begin(): void;
  stop(): void;
}

/**
 * Wires the reconcilers of CSI volumes, unbound claims and disks to the index of volumes. It does nothing until it
 * leads.
 */
export function createVolumeWork(deps: VolumeWorkDeps): VolumeWork {
  const { system, storage, gatherer } = deps;
  // Reads before the reservation of a PVC are coalesced over many volumes: all VolumeAttachments, and the pods of a
  // namespace.
  const client = joinReads(deps.client);
  const { clock, random, log } = system;
  const index = createVolumeIndex({ ...deps, intentsOfNode: gatherer.intentsOf, yielder: system.yielder });
  const expectations = createExpectations();
  const upserts = upsertsOf(deps);
  const volumeEvents = createVolumeEventRecorder({
    recorder: deps.recorder,
    intents: deps.intents,
    attachments: storage.attachments.store,
    index,
    complete: () => gatherer.complete() && storage.complete(),
  });
  const attachStatus = createAttachStatusWriter({ client, clock, log, volumeEvents, ...upserts });
  const retries = createRetries({ clock, random });
  const reserved = followReserved(storage.claims.store, clock);
  const reservation = createClaimReservation({ client, clock, random, log, reservedSince: reserved.since, ...upserts });
  const shared = {
    ...{ client, clock, random, log, storage, index, expectations, reservation, attachStatus, volumeEvents },
    ...upserts,
  };
  const attachments = createIntentAttachments({ ...shared, intent: (name) => deps.intents.get(name) });
  const unbound = createUnbound(shared);
  const cancels = forgetGone(deps, { expectations, attachStatus, retries, reservation, unbound });
  const release = (intent: Intent) => {
    return deps.release(intent, isCSI(intent.spec.source) ? attachments : undefined);
  };
  const disks = createDiskGrants({
    ...{ client: deps.client, log, intents: deps.intents, attachStatus, upsertIntent: deps.upsertIntent },
    onDue: deps.onDue,
    keyOf: index.keyOf,
    doubtForMs: deps.doubtForMs,
  });
  const answers = createAttachmentAnswers({ ...shared, intents: deps.intents, onDue: deps.onDue });
  const volumeDeps = {
    ...shared,
    diskHeldElsewhere: disks.waitReasonOf,
    retries,
    recorder: deps.recorder,
    release,
    doubtForMs: deps.doubtForMs,
    node: (name: string) => deps.nodes.get(name),
    controllerAttachDetach: deps.controllerAttachDetach,
  };

  return {
    async reconcile(key) {
      const id = volumeIDOf(key);
      const needsStorage = id === undefined || !isDisk(id);
      // Not everything is known: all keys are due again when it is.
      if (!gatherer.complete() || (needsStorage && !storage.complete())) return undefined;
      if (id !== undefined && disks.isKey(id)) return disks.reconcile(id);
      if (id !== undefined && answers.isKey(id)) return answers.reconcile(id);
      if (id !== undefined) return reconcileVolume(volumeDeps, id);
      const intent = deps.intents.get(unresolvedIntentOf(key) ?? "");
      if (intent === undefined) return undefined;
      if (awaitsRelease(intent)) return release(intent);
      return intent.spec.mode === "Manage" ? unbound.reconcile(intent) : undefined;
    },
    claims: index.claims,
    keyOf: index.keyOf,
    all() {
      index.all();
      disks.all();
      answers.all();
    },
    begin() {
      expectations.forget();
      reservation.forget();
      disks.forget();
      answers.forget();
    },
    stop() {
      for (const cancel of cancels) cancel();
      for (const part of [reserved, volumeEvents, disks, answers, index]) part.stop();
    },
  };
}

/** What takes the server's answer to a write into the stores, so that the next decision sees it. */
function upsertsOf({ storage, upsertIntent }: VolumeWorkDeps) {
  return {
    upsertIntent,
    upsertAttachment: (raw: unknown) => storage.attachments.upsertIfNewer(raw),
    upsertClaim: (raw: unknown) => storage.claims.upsertIfNewer(raw),
    upsertPersistentVolume: (raw: unknown) => storage.persistentVolumes.upsertIfNewer(raw),
  };
}

/** What is remembered of objects. */
interface Memories {
  readonly expectations: Expectations;
  readonly attachStatus: AttachStatusWriter;
  readonly retries: Retries;
  readonly reservation: ClaimReservation;
  readonly unbound: Unbound;
}

/** Forgets what is remembered of objects that are gone, and expects no VolumeAttachment any more that is seen. */
function forgetGone({ intents, storage }: VolumeWorkDeps, memories: Memories): Cancel[] {
  const { expectations, attachStatus, retries, reservation, unbound } = memories;
  const onAttachment = ({ metadata }: Attachment) => expectations.seen(metadata.name);
  const onClaimGone = (gone: Claim) => {
    reservation.gone(gone);
    unbound.gone(gone);
  };
  return [
    storage.attachments.store.subscribe(onEach(onAttachment)),
    intents.subscribe({
      onDelete(gone) {
        expectations.endGrant(gone);
        attachStatus.forget(gone);
        retries.forget(gone);
      },
    }),
    storage.claims.store.subscribe({
      onUpdate(before, after) {
        if (before.metadata.uid !== after.metadata.uid) onClaimGone(before);
      },
      onDelete: onClaimGone,
    }),
  ];
}

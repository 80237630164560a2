import type { KubeClient } from "../../kube/client/client.ts";
import type { KeyedQueue, RequeueAfter } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import { looking, onEach } from "../../kube/watch/looking.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync, type FullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, System } from "../../ports.ts";
import { type AttachStatusWriter, createAttachStatusWriter } from "../attach/attach-status-writer.ts";
import type { Pods } from "../cache/pods.ts";
import { claimObjectsOf, type Storage } from "../cache/storage.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { createGroups, type Groups } from "../util/groups.ts";
import { observeNode } from "./observe-node.ts";
import { ObservedClaims } from "./observed-claims.ts";
import { observedIntents, volumeOfClaim } from "./observed-intents.ts";

/** Dependencies of following the volumes that kubelet manages for pods. */
export interface ObserveDeps {
  readonly system: Pick<System, "clock" | "yielder" | "log">;
  readonly client: KubeClient;
  /** None: nothing is observed, and what was before is removed. */
  readonly observePods: "None" | "PersistentVolumes";
  readonly pods: Pick<Pods, "pods" | "ofNode" | "complete">;
  readonly storage: Storage;
  readonly gatherer: Pick<Gatherer, "complete" | "intentsOf">;
  readonly intents: ObjectStore<Intent>;
  readonly nodes: ObjectStore<NodeInfo>;
  readonly upsertIntent: (raw: unknown) => void;
  readonly queue: () => KeyedQueue;
}

/** What is looked at of the claims that kubelet manages for pods. */
export interface Observe {
  /** @returns milliseconds after which to look again, if any */
  reconcile(node: string): Promise<RequeueAfter | undefined>;
  /** Every node is due. */
  all(): void;
  stop(): void;
}

/** Follows pods with PersistentVolumes, and reports each node whose observed intents may have to change. */
export function createObserve(deps: ObserveDeps): Observe {
  const { storage, pods, intents, gatherer } = deps;
  const on = deps.observePods !== "None";
  const { csiNodes, attachments } = storage;
  const objects = claimObjectsOf(storage);
  const due = (node: string) => deps.queue().add(node);
  const claims = new ObservedClaims(intents, objects, due);
  const byVolume = createGroups();
  const attachStatus = createAttachStatusWriter({
    ...deps.system,
    client: deps.client,
    upsertIntent: deps.upsertIntent,
    // kube-controller-manager writes Events of these volumes itself.
    volumeEvents: { ofVolume: () => {} },
  });

  const nodeDeps = {
    client: deps.client,
    log: deps.system.log,
    attachStatus,
    complete: () => pods.complete() && gatherer.complete() && (!on || storage.complete()),
    node: (name: string) => deps.nodes.get(name),
    intentsOf: gatherer.intentsOf,
    wanted(node: NodeInfo, existing: ReadonlyMap<string, Intent>) {
      if (!on) return [];
      const there = [...pods.ofNode(node.metadata.name)];
      claims.rememberOthers(node.metadata.name, there);
      return observedIntents(node, there, objects, existing);
    },
    facts(intent: Intent) {
      const { namespace = "", claimName = "" } = intent.spec.source.persistentVolumeClaim ?? {};
      const volume = volumeOfClaim(objects, namespace, claimName)?.metadata.name ?? "";
      const { nodeName } = intent.spec;
      return {
        objects,
        csiNode: csiNodes.store.get(nodeName),
        attachments: byVolume.of(volume).flatMap((name) => attachments.store.get(name) ?? []),
        elsewhere: claims.intentsOf(namespace, claimName).filter(({ spec }) => spec.nodeName !== nodeName),
      };
    },
    upsert: deps.upsertIntent,
    forget: attachStatus.forget,
  };

  const resync = createFullResync(deps.system.yielder, function* () {
    for (const { metadata } of deps.nodes.list()) yield due(metadata.name);
    for (const intent of intents.list()) yield claims.onIntent(intent);
  });
  const cancels = [
    followPods(deps, due),
    followIntents(intents, claims, attachStatus),
    followNodes(deps.nodes, claims, due),
    ...followStorage(storage, claims, byVolume, due, resync),
  ];

  return {
    reconcile: (node) => observeNode(nodeDeps, node),
    ...looking(resync, cancels),
  };
}

type Due = (node: string) => void;

function followPods({ pods, storage, observePods }: ObserveDeps, due: Due): Cancel {
  const onPod = ({ nodeName, claims }: PodEntry) => {
    if (nodeName === "" || claims.length === 0) return;
    if (observePods !== "None") storage.need();
    due(nodeName);
  };
  return pods.pods.store.subscribe({
    onAdd: onPod,
    onUpdate(before, after) {
      if (before.nodeName !== after.nodeName || !sameJson(before.claims, after.claims)) onPod(after);
    },
    onDelete: onPod,
  });
}

function followIntents(
  intents: ObjectStore<Intent>,
  claims: ObservedClaims,
  attachStatus: Pick<AttachStatusWriter, "forget">,
): Cancel {
  return intents.subscribe({
    onAdd: (intent) => claims.onIntent(intent),
    onUpdate(before, after) {
      const same =
        before.metadata.generation === after.metadata.generation && before.metadata.uid === after.metadata.uid;
      if (!same || !sameJson(before.status.attach, after.status.attach)) claims.onIntent(after);
    },
    onDelete(gone) {
      attachStatus.forget(gone);
      claims.onIntentGone(gone);
    },
  });
}

function followNodes(nodes: ObjectStore<NodeInfo>, claims: ObservedClaims, due: Due): Cancel {
  return nodes.subscribe({
    onAdd: ({ metadata }) => due(metadata.name),
    onUpdate(before, after) {
      if (before.metadata.uid !== after.metadata.uid) due(after.metadata.name);
    },
    onDelete({ metadata }) {
      claims.forgetNode(metadata.name);
      due(metadata.name);
    },
  });
}

function followStorage(storage: Storage, claims: ObservedClaims, byVolume: Groups, due: Due, resync: FullResync) {
  const { persistentVolumes, attachments, csiNodes, csiDrivers, storageClasses } = storage;
  const onVolumeNamed = (name: string) => {
    const volume = persistentVolumes.store.get(name);
    if (volume !== undefined) claims.onVolume(volume);
  };
  const onAttachment = ({ metadata, persistentVolumeName }: Attachment) => {
    byVolume.put(metadata.name, persistentVolumeName);
    onVolumeNamed(persistentVolumeName);
  };
  /** These seldom change, and then for all. */
  const onDriver = () => {
    if (storage.complete()) resync.begin();
  };
  return [
    storage.claims.store.subscribe(onEach((claim) => claims.onClaim(claim))),
    persistentVolumes.store.subscribe(onEach((volume) => claims.onVolume(volume))),
    attachments.store.subscribe({
      onAdd: onAttachment,
      onUpdate: (_, after) => onAttachment(after),
      onDelete({ metadata, persistentVolumeName }) {
        byVolume.remove(metadata.name);
        onVolumeNamed(persistentVolumeName);
      },
    }),
    csiNodes.store.subscribe(onEach(({ metadata }) => due(metadata.name))),
    csiDrivers.store.subscribe(onEach(onDriver)),
    storageClasses.store.subscribe(onEach(onDriver)),
  ];
}

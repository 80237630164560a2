import type { KubeObject } from "../../api/meta.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { KeyedQueue, RequeueAfter } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import { looking, onEach } from "../../kube/watch/looking.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, System } from "../../ports.ts";
import { createAttachStatusWriter } from "../attach/attach-status-writer.ts";
import type { Pods } from "../cache/pods.ts";
import { claimObjectsOf, type Storage } from "../cache/storage.ts";
import type { Gatherer } from "../intents/gather.ts";
import { accessModeOf, isSingleNode } from "../model/access.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { type Intent, isKubelets, type NodeInfo } from "../model/projections.ts";
import type { Attachment, Claim, PersistentVolume } from "../model/storage-objects.ts";
import { createGroups } from "../util/groups.ts";
import { observeNode } from "./observe-node.ts";
import { isOfOther, observedIntents, volumeOfClaim } from "./observed-intents.ts";

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
  const { claims, persistentVolumes, storageClasses, csiDrivers, csiNodes, attachments } = storage;
  const objects = claimObjectsOf(storage);
  /** Intents by claim, whoever manages it: who else has the volume may be one of ours. */
  const byClaim = createGroups();
  const byVolume = createGroups();
  /**
   * By node, claims of other owners that its pods ask for: without an intent nothing else leads from the claim to the
   * node.
   */
  const ofOthers = new Map<string, ReadonlySet<string>>();
  // kube-controller-manager writes Events of these volumes itself.
  const volumeEvents = { ofVolume: () => {} };
  const attachStatus = createAttachStatusWriter({
    ...deps.system,
    client: deps.client,
    upsertIntent: deps.upsertIntent,
    volumeEvents,
  });
  const due = (node: string) => deps.queue().add(node);

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
      rememberOthers(node.metadata.name, there);
      return observedIntents(node, there, objects, existing);
    },
    facts(intent: Intent) {
      const { namespace = "", claimName = "" } = intent.spec.source.persistentVolumeClaim ?? {};
      const volume = volumeOfClaim(objects, namespace, claimName)?.metadata.name ?? "";
      return {
        objects,
        csiNode: csiNodes.store.get(intent.spec.nodeName),
        attachments: byVolume.of(volume).flatMap((name) => attachments.store.get(name) ?? []),
        elsewhere: intentsOfClaim(namespace, claimName).filter(({ spec }) => spec.nodeName !== intent.spec.nodeName),
      };
    },
    upsert: deps.upsertIntent,
    forget: attachStatus.forget,
  };

  function rememberOthers(node: string, there: readonly PodEntry[]): void {
    const uses = there.flatMap((pod) => pod.claims.map((claim) => ({ pod, claim })));
    const others = uses.filter((use) => isOfOther(objects, use));
    if (others.length === 0) ofOthers.delete(node);
    else ofOthers.set(node, new Set(others.map(({ pod, claim }) => keyOf(pod, claim.claimName))));
  }
  function onPod({ nodeName, claims: named }: PodEntry): void {
    if (nodeName === "" || named.length === 0) return;
    if (on) storage.need();
    due(nodeName);
  }
  function onIntent(intent: Intent): void {
    const claim = intent.spec.source.persistentVolumeClaim;
    if (claim === undefined) return;
    byClaim.put(intent.metadata.name, claimKey(claim.namespace, claim.claimName));
    if (isKubelets(intent)) due(intent.spec.nodeName);
    dueElsewhere(claim);
  }
  /** Of a volume for one node at a time the others wait for who has it. */
  function dueElsewhere({ namespace, claimName }: { readonly namespace: string; readonly claimName: string }): void {
    const volume = volumeOfClaim(objects, namespace, claimName);
    if (volume !== undefined && isSingleNode(accessModeOf(volume.accessModes, false))) dueOfClaim(namespace, claimName);
  }
  function intentsOfClaim(namespace: string, name: string): Intent[] {
    return byClaim.of(claimKey(namespace, name)).flatMap((intent) => intents.get(intent) ?? []);
  }
  function dueOfClaim(namespace: string, name: string): void {
    for (const intent of intentsOfClaim(namespace, name)) if (isKubelets(intent)) due(intent.spec.nodeName);
  }
  function onClaim(claim: Claim): void {
    const { namespace = "", name } = claim.metadata;
    dueOfClaim(namespace, name);
    for (const [node, claims] of ofOthers) if (claims.has(keyOf(claim, name))) due(node);
  }
  function onVolume({ claimRef }: PersistentVolume): void {
    if (claimRef !== undefined) dueOfClaim(claimRef.namespace, claimRef.name);
  }
  function ofVolumeNamed(name: string): void {
    const volume = persistentVolumes.store.get(name);
    if (volume !== undefined) onVolume(volume);
  }
  function onAttachment({ metadata, persistentVolumeName }: Attachment): void {
    byVolume.put(metadata.name, persistentVolumeName);
    ofVolumeNamed(persistentVolumeName);
  }
  /** These seldom change, and then for all. */
  function onDriver(): void {
    if (storage.complete()) resync.begin();
  }

  const resync = createFullResync(deps.system.yielder, function* () {
    for (const { metadata } of deps.nodes.list()) yield due(metadata.name);
    for (const intent of intents.list()) yield onIntent(intent);
  });

  const cancels: Cancel[] = [
    pods.pods.store.subscribe({
      onAdd: onPod,
      onUpdate(before, after) {
        if (before.nodeName !== after.nodeName || !sameJson(before.claims, after.claims)) onPod(after);
      },
      onDelete: onPod,
    }),
    intents.subscribe({
      onAdd: onIntent,
      onUpdate(before, after) {
        const same =
          before.metadata.generation === after.metadata.generation && before.metadata.uid === after.metadata.uid;
        if (!same || !sameJson(before.status.attach, after.status.attach)) onIntent(after);
      },
      onDelete(gone) {
        byClaim.remove(gone.metadata.name);
        attachStatus.forget(gone);
        if (isKubelets(gone)) due(gone.spec.nodeName);
        const claim = gone.spec.source.persistentVolumeClaim;
        if (claim !== undefined) dueElsewhere(claim);
      },
    }),
    deps.nodes.subscribe({
      onAdd: ({ metadata }) => due(metadata.name),
      onUpdate(before, after) {
        if (before.metadata.uid !== after.metadata.uid) due(after.metadata.name);
      },
      onDelete({ metadata }) {
        ofOthers.delete(metadata.name);
        due(metadata.name);
      },
    }),
    claims.store.subscribe(onEach(onClaim)),
    persistentVolumes.store.subscribe(onEach(onVolume)),
    attachments.store.subscribe({
      onAdd: onAttachment,
      onUpdate: (_, after) => onAttachment(after),
      onDelete({ metadata, persistentVolumeName }) {
        byVolume.remove(metadata.name);
        ofVolumeNamed(persistentVolumeName);
      },
    }),
    csiNodes.store.subscribe(onEach(({ metadata }) => due(metadata.name))),
    csiDrivers.store.subscribe(onEach(onDriver)),
    storageClasses.store.subscribe(onEach(onDriver)),
  ];

  return {
    reconcile: (node) => observeNode(nodeDeps, node),
    ...looking(resync, cancels),
  };
}

/** Of a claim in the namespace of an object. */
function keyOf({ metadata: { namespace = "" } }: KubeObject, claim: string): string {
  return claimKey(namespace, claim);
}

function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

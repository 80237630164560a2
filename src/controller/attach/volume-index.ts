import type { KubeObject } from "../../api/meta.ts";
import { annotation } from "../../api/names.ts";
import { looking, onEach } from "../../kube/watch/looking.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, Yielder } from "../../ports.ts";
import { claimObjectsOf, type Storage, type StorageWatches } from "../cache/storage.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import {
  type Attachment,
  type Claim,
  type ClaimObjects,
  claimKey,
  type PersistentVolume,
} from "../model/storage-objects.ts";
import { isGuarded, unresolvedKey, type VolumeID, type VolumeKey, volumeKey } from "../model/volume-key.ts";
import { createObjectGroups } from "../util/groups.ts";
import { AttachmentIndex } from "./attachment-index.ts";
import { isOwnAttachment } from "./attachment-name.ts";
import { isResolved, resolveVolume } from "./resolve-volume.ts";

/** Everything that is known of one volume, on all nodes. */
export interface VolumeIndex {
  readonly objects: ClaimObjects;
  /** The intents of a volume, also those that are being deleted, and those that only observe. */
  intents(key: VolumeKey): Intent[];
  /** Intents that name a claim. */
  intentsOfClaim(namespace: string, name: string): Intent[];
  attachments(key: VolumeKey): Attachment[];
  persistentVolumes(key: VolumeKey): PersistentVolume[];
  /** Claims of any PersistentVolume of the volume, as far as they name it. */
  claims(key: VolumeKey): Claim[];
  /** Names of the VolumeAttachments of a driver on a node: those that count against its limit. */
  attachedOn(of: Pick<VolumeID, "driver">, node: string): Set<string>;
  /** The key of the volume that an intent uses, or asks for as far as is known. */
  keyOf(intent: Intent): VolumeKey;
  /** The key of the volume that a VolumeAttachment is of. */
  keyOfAttachment(attachment: Attachment): VolumeKey;
  /** Each key is told. */
  all(): void;
  stop(): void;
}

/** Inputs of the index of volumes. */
export interface VolumeIndexDeps {
  readonly intents: ObjectStore<Intent>;
  readonly nodes: ObjectStore<NodeInfo>;
  readonly storage: StorageWatches & Pick<Storage, "complete">;
  readonly intentsOfNode: (node: string) => readonly Intent[];
  /** Whether two versions of a Node are the same to whoever decides. */
  readonly sameNode: (a: NodeInfo, b: NodeInfo) => boolean;
  readonly yielder: Yielder;
  /** Told of each volume of which something may have changed. */
  readonly onDue: (key: VolumeKey) => void;
}

/** PURE. Whether an intent is about a volume that is attached or granted here; observe/ has what kubelet manages. */
function isIndexed({ spec }: Intent): boolean {
  return isGuarded(spec.source) && spec.observed === undefined;
}

/** PURE. The key of the volume that an intent is about: its own while that cannot be resolved. */
function volumeKeyOf({ metadata, spec }: Intent, objects: ClaimObjects): VolumeKey {
  if (spec.grant?.csi !== undefined) return volumeKey(spec.grant.csi);
  const resolution = resolveVolume(spec, objects);
  return isResolved(resolution) ? volumeKey(resolution.id) : unresolvedKey(metadata.name);
}

/**
 * Indexes intents, claims, PersistentVolumes and VolumeAttachments by volume, and reports each volume that a change of
 * any of them may affect. The entry point for "which change reconciles which volume".
 */
export function createVolumeIndex(deps: VolumeIndexDeps): VolumeIndex {
  const { intents, onDue } = deps;
  const { persistentVolumes, attachments } = deps.storage;
  const [byKey, byClaim] = [createObjectGroups<Intent, VolumeKey>(intents), createObjectGroups(intents)];
  const volumesByKey = createObjectGroups<PersistentVolume, VolumeKey>(persistentVolumes.store);
  const attached = new AttachmentIndex(attachments.store);
  const objects = claimObjectsOf(deps.storage);

  const keyOf = (intent: Intent) => volumeKeyOf(intent, objects);
  const keyOfAttachment = (at: Attachment) => attachedVolume(at, persistentVolumes.store.get(at.persistentVolumeName));

  function seeIntent(intent: Intent): void {
    if (!isIndexed(intent)) return;
    const claim = intent.spec.source.persistentVolumeClaim;
    if (claim !== undefined) byClaim.put(intent.metadata.name, claimKey(claim.namespace, claim.claimName));
    const before = byKey.put(intent.metadata.name, keyOf(intent));
    if (before !== undefined) onDue(before);
    onDue(keyOf(intent));
  }

  function loseIntent({ metadata: { name } }: Intent): void {
    byClaim.remove(name);
    const key = byKey.remove(name);
    if (key !== undefined) onDue(key);
  }

  function seeClaim({ metadata: { namespace = "", name }, volumeName }: Claim): void {
    for (const intent of byClaim.of(claimKey(namespace, name))) seeIntent(intent);
    const csi = persistentVolumes.store.get(volumeName)?.csi;
    if (csi !== undefined) onDue(volumeKey(csi));
  }

  function seeIntentsOf(claim: PersistentVolume["claimRef"]): void {
    if (claim !== undefined) for (const one of byClaim.of(claimKey(claim.namespace, claim.name))) seeIntent(one);
  }

  function seeVolume({ metadata: { name }, csi, claimRef }: PersistentVolume): void {
    if (csi !== undefined) {
      volumesByKey.put(name, volumeKey(csi));
      onDue(volumeKey(csi));
    }
    seeIntentsOf(claimRef);
    for (const attachment of attached.ofPersistentVolume(name)) seeAttachment(attachment);
  }

  function seeAttachment(attachment: Attachment): void {
    const key = keyOfAttachment(attachment);
    attached.put(attachment, key);
    onDue(key);
  }

  function loseAttachment(attachment: Attachment): void {
    const key = attached.remove(attachment);
    if (key !== undefined) onDue(key);
    dueOn(attachment.nodeName); // there is room for another one on the node
  }

  function dueOn(node: string): void {
    for (const intent of deps.intentsOfNode(node)) if (isIndexed(intent)) onDue(keyOf(intent));
    for (const attachment of attached.onNode(node)) onDue(keyOfAttachment(attachment));
  }

  const resync = createFullResync(deps.yielder, function* () {
    for (const intent of intents.list()) yield seeIntent(intent);
    for (const volume of persistentVolumes.store.list()) yield seeVolume(volume);
    for (const attachment of attachments.store.list()) yield seeAttachment(attachment);
  });

  const cancels = followObjects(deps, {
    ...{ seeIntent, loseIntent, seeClaim, seeVolume, seeAttachment, loseAttachment },
    loseVolume({ metadata, csi, claimRef }) {
      volumesByKey.remove(metadata.name);
      if (csi !== undefined) onDue(volumeKey(csi));
      seeIntentsOf(claimRef);
    },
    seeNode: ({ metadata }) => dueOn(metadata.name),
    anyMayDiffer() {
      if (deps.storage.complete()) resync.begin();
    },
  });

  return {
    objects,
    intents: byKey.of,
    intentsOfClaim: (namespace, name) => byClaim.of(claimKey(namespace, name)),
    attachments: (key) => attached.ofKey(key),
    persistentVolumes: volumesByKey.of,
    claims: (key) => volumesByKey.of(key).flatMap((volume) => boundClaim(objects, volume) ?? []),
    attachedOn: (of, node) => new Set(attached.namesOn(of, node)),
    keyOf,
    keyOfAttachment,
    ...looking(resync, cancels),
  };
}

/** What is done when an object that volumes rest on comes, changes or goes. */
interface Handlers {
  readonly seeIntent: (intent: Intent) => void;
  readonly loseIntent: (intent: Intent) => void;
  readonly seeClaim: (claim: Claim) => void;
  readonly seeVolume: (volume: PersistentVolume) => void;
  readonly loseVolume: (volume: PersistentVolume) => void;
  readonly seeAttachment: (attachment: Attachment) => void;
  readonly loseAttachment: (attachment: Attachment) => void;
  readonly seeNode: (node: KubeObject) => void;
  /** These are few and seldom change. While they are read for the first time, all is looked at afterwards. */
  readonly anyMayDiffer: () => void;
}

function followObjects({ intents, nodes, storage, sameNode }: VolumeIndexDeps, on: Handlers): Cancel[] {
  return [
    intents.subscribe({ onAdd: on.seeIntent, onUpdate: (_, after) => on.seeIntent(after), onDelete: on.loseIntent }),
    storage.claims.store.subscribe(onEach(on.seeClaim)),
    storage.persistentVolumes.store.subscribe({
      onAdd: on.seeVolume,
      onUpdate: (_, after) => on.seeVolume(after),
      onDelete: on.loseVolume,
    }),
    storage.attachments.store.subscribe({
      onAdd: on.seeAttachment,
      onUpdate: (_, after) => on.seeAttachment(after),
      onDelete: on.loseAttachment,
    }),
    storage.csiNodes.store.subscribe(onEach(on.seeNode)),
    nodes.subscribe({
      onAdd: on.seeNode,
      onUpdate: (before, after) => {
        if (!sameNode(before, after)) on.seeNode(after);
      },
      onDelete: on.seeNode,
    }),
    storage.csiDrivers.store.subscribe(onEach(on.anyMayDiffer)),
    storage.storageClasses.store.subscribe(onEach(on.anyMayDiffer)),
  ];
}

/** The key of the volume that an attachment is of; `volume` is its PersistentVolume, if there is one. */
function attachedVolume({ metadata, attacher, inline }: Attachment, volume: PersistentVolume | undefined): VolumeKey {
  // What ours was made for stands on it, whatever a PersistentVolume of that name says by now.
  const made = isOwnAttachment(metadata.name) ? metadata.annotations?.[annotation.volumeHandle] : undefined;
  if (made !== undefined) return volumeKey({ driver: attacher, volumeHandle: made });
  const csi = inline ?? volume?.csi;
  return volumeKey({ driver: csi?.driver ?? attacher, volumeHandle: csi?.volumeHandle ?? "" });
}

/** The claim that is bound to a PersistentVolume: each names the other. Undefined if there is none. */
function boundClaim(objects: ClaimObjects, { metadata, claimRef }: PersistentVolume): Claim | undefined {
  const claim = claimRef && objects.claim(claimRef.namespace, claimRef.name);
  return claim?.metadata.uid === claimRef?.uid && claim?.volumeName === metadata.name ? claim : undefined;
}

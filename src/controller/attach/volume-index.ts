import type { KubeObject } from "../../api/meta.ts";
import { annotation } from "../../api/names.ts";
import { looking, onEach } from "../../kube/watch/looking.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, Yielder } from "../../ports.ts";
import type { Storage, StorageWatches } from "../cache/storage.ts";
import { claimObjectsOf } from "../cache/storage.ts";
import type { ClaimObjects } from "../claims/resolve-claim.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import type { Attachment, Claim, PersistentVolume } from "../model/storage-objects.ts";
import { isGuarded, unresolvedKey, volumeKey } from "../model/volume-key.ts";
import { createGroups } from "../util/groups.ts";
import { isOwnAttachment } from "./attachment-name.ts";
import { isResolved, resolveVolume } from "./resolve-volume.ts";

/** Everything that is known of one volume, on all nodes. */
export interface VolumeIndex {
  readonly objects: ClaimObjects;
  /** The intents of a volume, also those that are being deleted, and those that only observe. */
  intents(key: string): Intent[];
  /** Intents that name a claim. */
  intentsOfClaim(namespace: string, name: string): Intent[];
  attachments(key: string): Attachment[];
  persistentVolumes(key: string): PersistentVolume[];
  /** Claims of any PersistentVolume of the volume, as far as they name it. */
  claims(key: string): Claim[];
  /** Names of the VolumeAttachments of a driver on a node: those that count against its limit. */
  attachedOn(driver: string, node: string): Set<string>;
  /** The key of the volume that an intent uses, or asks for as far as is known. */
  keyOf(intent: Intent): string;
  /** The key of the volume that a VolumeAttachment is of. */
  keyOfAttachment(attachment: Attachment): string;
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
  readonly onDue: (key: string) => void;
}

/**
 * Indexes intents, claims, PersistentVolumes and VolumeAttachments by volume, and reports each volume that a change of
 * any of them may affect. The entry point for "which change reconciles which volume".
 */
export function createVolumeIndex(deps: VolumeIndexDeps): VolumeIndex {
  const { intents, onDue } = deps;
  const { claims, persistentVolumes, attachments, csiNodes, csiDrivers, storageClasses } = deps.storage;
  const byKey = createGroups();
  const byClaim = createGroups();
  const volumesByKey = createGroups();
  const attachmentsByKey = createGroups();
  const attachmentsByVolume = createGroups();
  const attachmentsByPlace = createGroups();
  const attachmentsByNode = createGroups();

  const objects = claimObjectsOf(deps.storage);

  function keyOf({ metadata, spec }: Intent): string {
    if (spec.grant?.csi !== undefined) return volumeKey(spec.grant.csi);
    const resolution = resolveVolume(spec, objects);
    return isResolved(resolution) ? volumeKey(resolution.id) : unresolvedKey(metadata.name);
  }

  function keyOfAttachment({ metadata, attacher, inline, persistentVolumeName }: Attachment): string {
    // What ours was made for stands on it, whatever a PersistentVolume of that name says by now.
    const made = isOwnAttachment(metadata.name) ? metadata.annotations?.[annotation.volumeHandle] : undefined;
    if (made !== undefined) return volumeKey({ driver: attacher, volumeHandle: made });
    const csi = inline ?? persistentVolumes.store.get(persistentVolumeName)?.csi;
    return volumeKey({ driver: csi?.driver ?? attacher, volumeHandle: csi?.volumeHandle ?? "" });
  }

  function seeIntent(intent: Intent): void {
    // What kubelet manages is looked at elsewhere (observe/).
    if (!isGuarded(intent.spec.source) || intent.spec.observed !== undefined) return;
    const { name } = intent.metadata;
    const claim = intent.spec.source.persistentVolumeClaim;
    if (claim !== undefined) byClaim.put(name, claimKey(claim.namespace, claim.claimName));
    const before = byKey.put(name, keyOf(intent));
    if (before !== undefined) onDue(before);
    onDue(keyOf(intent));
  }

  function loseIntent({ metadata }: Intent): void {
    byClaim.remove(metadata.name);
    const key = byKey.remove(metadata.name);
    if (key !== undefined) onDue(key);
  }

  function seeClaim({ metadata: { namespace = "", name }, volumeName }: Claim): void {
    for (const intent of intentsOfClaim(namespace, name)) seeIntent(intent);
    const csi = persistentVolumes.store.get(volumeName)?.csi;
    if (csi !== undefined) onDue(volumeKey(csi));
  }

  function seeVolume({ metadata: { name }, csi, claimRef }: PersistentVolume): void {
    if (csi !== undefined) {
      volumesByKey.put(name, volumeKey(csi));
      onDue(volumeKey(csi));
    }
    if (claimRef !== undefined) for (const one of intentsOfClaim(claimRef.namespace, claimRef.name)) seeIntent(one);
    for (const attachment of attachmentsByVolume.of(name)) {
      const known = attachments.store.get(attachment);
      if (known !== undefined) seeAttachment(known);
    }
  }

  function seeAttachment(attachment: Attachment): void {
    const { metadata, attacher, nodeName, persistentVolumeName } = attachment;
    attachmentsByVolume.put(metadata.name, persistentVolumeName);
    attachmentsByPlace.put(metadata.name, placeKey(attacher, nodeName));
    attachmentsByNode.put(metadata.name, nodeName);
    const key = keyOfAttachment(attachment);
    attachmentsByKey.put(metadata.name, key);
    onDue(key);
  }

  function loseAttachment({ metadata, nodeName }: Attachment): void {
    attachmentsByVolume.remove(metadata.name);
    attachmentsByPlace.remove(metadata.name);
    attachmentsByNode.remove(metadata.name);
    const key = attachmentsByKey.remove(metadata.name);
    if (key !== undefined) onDue(key);
    // There is room for another one on the node.
    dueOn(nodeName);
  }

  function dueOn(node: string): void {
    for (const { spec, ...intent } of deps.intentsOfNode(node)) {
      if (isGuarded(spec.source) && spec.observed === undefined) onDue(keyOf({ ...intent, spec }));
    }
    for (const name of attachmentsByNode.of(node)) {
      const known = attachments.store.get(name);
      if (known !== undefined) onDue(keyOfAttachment(known));
    }
  }

  const resync = createFullResync(deps.yielder, function* () {
    for (const intent of intents.list()) yield seeIntent(intent);
    for (const volume of persistentVolumes.store.list()) yield seeVolume(volume);
    for (const attachment of attachments.store.list()) yield seeAttachment(attachment);
  });

  function intentsOfClaim(namespace: string, name: string): Intent[] {
    return byClaim.of(claimKey(namespace, name)).flatMap((intent) => intents.get(intent) ?? []);
  }

  /** These are few and seldom change. While they are read for the first time, all is looked at afterwards. */
  function anyMayDiffer(): void {
    if (deps.storage.complete()) resync.begin();
  }

  const onNode = ({ metadata }: KubeObject) => dueOn(metadata.name);
  const cancels: Cancel[] = [
    intents.subscribe({ onAdd: seeIntent, onUpdate: (_, after) => seeIntent(after), onDelete: loseIntent }),
    claims.store.subscribe(onEach(seeClaim)),
    persistentVolumes.store.subscribe({
      onAdd: seeVolume,
      onUpdate: (_, after) => seeVolume(after),
      onDelete(gone) {
        volumesByKey.remove(gone.metadata.name);
        seeVolumeGone(gone);
      },
    }),
    attachments.store.subscribe({
      onAdd: seeAttachment,
      onUpdate: (_, after) => seeAttachment(after),
      onDelete: loseAttachment,
    }),
    csiNodes.store.subscribe(onEach(onNode)),
    deps.nodes.subscribe({
      onAdd: onNode,
      onUpdate: (before, after) => {
        if (!deps.sameNode(before, after)) onNode(after);
      },
      onDelete: onNode,
    }),
    csiDrivers.store.subscribe(onEach(anyMayDiffer)),
    storageClasses.store.subscribe(onEach(anyMayDiffer)),
  ];

  function seeVolumeGone({ csi, claimRef }: PersistentVolume): void {
    if (csi !== undefined) onDue(volumeKey(csi));
    if (claimRef !== undefined) for (const one of intentsOfClaim(claimRef.namespace, claimRef.name)) seeIntent(one);
  }

  return {
    objects,
    intents: (key) => byKey.of(key).flatMap((name) => intents.get(name) ?? []),
    intentsOfClaim,
    attachments: (key) => attachmentsByKey.of(key).flatMap((name) => attachments.store.get(name) ?? []),
    persistentVolumes: (key) => volumesByKey.of(key).flatMap((name) => persistentVolumes.store.get(name) ?? []),
    claims: (key) =>
      volumesByKey.of(key).flatMap((name) => {
        const claimRef = persistentVolumes.store.get(name)?.claimRef;
        const claim = claimRef && claims.store.get(claimRef.name, claimRef.namespace);
        return claim?.metadata.uid === claimRef?.uid && claim?.volumeName === name ? [claim] : [];
      }),
    attachedOn: (driver, node) => new Set(attachmentsByPlace.of(placeKey(driver, node))),
    keyOf,
    keyOfAttachment,
    ...looking(resync, cancels),
  };
}

function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function placeKey(driver: string, node: string): string {
  return `${driver}^${node}`;
}

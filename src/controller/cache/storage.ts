import { resource } from "../../api/names.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import type { Cancel } from "../../ports.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import {
  type Attachment,
  type Claim,
  type ClaimObjects,
  type CSIDriver,
  type CSINode,
  type PersistentVolume,
  projectAttachment,
  projectClaim,
  projectCSIDriver,
  projectCSINode,
  projectPersistentVolume,
  projectStorageClass,
  type StorageClass,
} from "../model/storage-objects.ts";
import { isCSI, isUnknown } from "../model/volume-key.ts";
import { type WatchDeps, watch } from "./watch.ts";
import { createWatchGroup, type WatchGroup } from "./watch-group.ts";

/** The watches of what volumes of CSI drivers rest on. */
export interface StorageWatches {
  readonly claims: Reflector<Claim>;
  readonly persistentVolumes: Reflector<PersistentVolume>;
  readonly attachments: Reflector<Attachment>;
  readonly csiNodes: Reflector<CSINode>;
  readonly csiDrivers: Reflector<CSIDriver>;
  readonly storageClasses: Reflector<StorageClass>;
}

/** Watches of the storage API objects. */
export interface Storage extends StorageWatches, Omit<WatchGroup, "start"> {
  /** Some set or intent needs them: they are started, once. A cluster without CSI volumes pays nothing for them. */
  need(): void;
}

/** The watches of storage API objects, not started yet. */
export function createStorage(deps: WatchDeps): Storage {
  const watches: StorageWatches = {
    claims: watch(deps, resource.claims, projectClaim),
    persistentVolumes: watch(deps, resource.persistentVolumes, projectPersistentVolume),
    attachments: watch(deps, resource.volumeAttachments, projectAttachment),
    csiNodes: watch(deps, resource.csiNodes, projectCSINode),
    csiDrivers: watch(deps, resource.csiDrivers, projectCSIDriver),
    storageClasses: watch(deps, resource.storageClasses, projectStorageClass),
  };
  const all = Object.values(watches) as Reflector<never>[];
  const { start, ...group } = createWatchGroup(deps.system.log, "storage objects", all);
  return { ...watches, ...group, need: start };
}

/** The objects that a claim is resolved by. */
export function claimObjectsOf(storage: StorageWatches): ClaimObjects {
  const { claims, persistentVolumes, storageClasses, csiDrivers } = storage;
  return {
    claim: (namespace, name) => claims.store.get(name, namespace),
    persistentVolume: (name) => persistentVolumes.store.get(name),
    storageClass: (name) => storageClasses.store.get(name),
    csiDriver: (name) => csiDrivers.store.get(name),
  };
}

/** Starts the watches when the first set or intent with a volume of a CSI driver is seen. */
export function needStorage(
  storage: Storage,
  stores: { readonly sets: ObjectStore<SetEntry>; readonly intents: ObjectStore<Intent> },
): Cancel {
  const onSet = ({ spec }: SetEntry) => {
    if (spec !== undefined && isCSI(spec.volume.source)) storage.need();
  };
  const onIntent = ({ spec }: Intent) => {
    // One that is unknown may be of a driver: nothing is decided of it, not even its release, before these are read.
    if (isCSI(spec.source) || isUnknown(spec.source)) storage.need();
  };
  const cancels = [
    stores.sets.subscribe({ onAdd: onSet, onUpdate: (_, after) => onSet(after) }),
    stores.intents.subscribe({ onAdd: onIntent, onUpdate: (_, after) => onIntent(after) }),
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };
}

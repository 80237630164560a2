import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import { resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { ObjectStore } from "../../kube/object-store.ts";
import type { Reflector } from "../../kube/reflector.ts";
import { createReflector } from "../../kube/reflector.ts";
import type { Transport } from "../../kube/transport.ts";
import type { Cancel, System } from "../../ports.ts";
import type { Intent, SetEntry } from "../projections.ts";
import type { Attachment, Claim, CSIDriver, CSINode, PersistentVolume, StorageClass } from "./objects.ts";
import {
  projectAttachment,
  projectClaim,
  projectCSIDriver,
  projectCSINode,
  projectPersistentVolume,
  projectStorageClass,
} from "./objects.ts";
import { isCSI } from "./volume-key.ts";

/** The watches of what volumes of CSI drivers rest on. */
export interface StorageWatches {
  readonly claims: Reflector<Claim>;
  readonly persistentVolumes: Reflector<PersistentVolume>;
  readonly attachments: Reflector<Attachment>;
  readonly csiNodes: Reflector<CSINode>;
  readonly csiDrivers: Reflector<CSIDriver>;
  readonly storageClasses: Reflector<StorageClass>;
}

export interface Storage extends StorageWatches {
  /** Some set or intent needs them: they are started, once. A cluster without CSI volumes pays nothing for them. */
  need(): void;
  /** Reads all again, as what a former leader wrote may not be seen yet; `onComplete` when that is done. */
  lead(onComplete: () => void): void;
  /** Not ours to decide any more. */
  follow(): void;
  /** Whether all was read since this process leads, and changes arrive. Without that nothing is decided (law L8). */
  complete(): boolean;
  stop(): void;
}

export interface StorageDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly onRestart: (resource: Resource, why: string) => void;
}

export function createStorage({ system, transport, onRestart }: StorageDeps): Storage {
  function watch<T extends KubeObject>(of: Resource, project: (raw: unknown) => T | undefined) {
    const restarted = (why: string) => onRestart(of, why);
    return createReflector<T>({ system, transport, resource: of, project, onRestart: restarted });
  }
  const watches: StorageWatches = {
    claims: watch(resource.claims, projectClaim),
    persistentVolumes: watch(resource.persistentVolumes, projectPersistentVolume),
    attachments: watch(resource.volumeAttachments, projectAttachment),
    csiNodes: watch(resource.csiNodes, projectCSINode),
    csiDrivers: watch(resource.csiDrivers, projectCSIDriver),
    storageClasses: watch(resource.storageClasses, projectStorageClass),
  };
  const all = Object.values(watches) as Reflector<never>[];
  let started = false;
  /** Whether everything was read since this process leads. */
  let fresh = false;
  let term: { readonly onComplete: () => void } | undefined;

  async function readAgain(mine: NonNullable<typeof term>): Promise<void> {
    try {
      await Promise.all(all.map((one) => one.resync()));
    } catch (error) {
      system.log.debug("the storage objects were not read to the end", { error: messageOf(error) });
      return;
    }
    if (term !== mine) return;
    fresh = true;
    mine.onComplete();
  }

  for (const { store } of all) {
    store.subscribe({
      onState({ connected }) {
        if (connected) for (const other of all) other.nudge();
        // What was put off while they could not be seen.
        if (complete()) term?.onComplete();
      },
    });
  }

  function complete(): boolean {
    const states = all.map(({ store }) => store.state());
    return fresh && states.every(({ synced, connected }) => synced && connected);
  }

  return {
    ...watches,
    need() {
      if (started) return;
      started = true;
      for (const one of all) one.start();
      if (term !== undefined) void readAgain(term);
    },
    lead(onComplete) {
      fresh = false;
      term = { onComplete };
      if (started) void readAgain(term);
    },
    follow() {
      fresh = false;
      term = undefined;
    },
    complete,
    stop() {
      term = undefined;
      if (started) for (const one of all) one.stop();
    },
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
    if (isCSI(spec.source)) storage.need();
  };
  const cancels = [
    stores.sets.subscribe({ onAdd: onSet, onUpdate: (_, after) => onSet(after) }),
    stores.intents.subscribe({ onAdd: onIntent, onUpdate: (_, after) => onIntent(after) }),
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };
}

import { allowsSet } from "../../api/allowed-set.ts";
import type { VolumeSource } from "../../api/types.gen.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel } from "../../ports.ts";
import type { VolumeIndex } from "../attach/volume-index.ts";
import type { Storage } from "../cache/storage.ts";
import { claimNotAllowed, namesThisClaim } from "../claims/allowed-sets.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { NodeInput } from "../model/node-input.ts";
import type { SetEntry } from "../model/projections.ts";
import type { Claim, PersistentVolume } from "../model/storage-objects.ts";
import { isCSI, type VolumeKey, volumeKey } from "../model/volume-key.ts";

type Bindings = Pick<Storage, "claims" | "persistentVolumes">;

/**
 * Whether the known PVCs allow sets: the PVC that the source names, and all that are bound to its volume through any
 * PersistentVolume. A PVC that does not exist is no refusal: the volume waits for it.
 */
export function consentOf(
  storage: Bindings & Pick<Storage, "complete">,
  claimsOfVolume: VolumeIndex["claims"],
): NodeInput["consent"] {
  return (set, source) => {
    if (!isCSI(source)) return undefined;
    if (!storage.complete()) return "unknown";
    const claim = claimNamed(storage, source);
    const key = keyNamed(storage, source);
    const ofVolume = key === undefined ? [] : claimsOfVolume(key);
    return claimNotAllowed(claim === undefined ? ofVolume : [claim, ...ofVolume], [set]);
  };
}

function claimNamed({ claims }: Bindings, { persistentVolumeClaim: named }: VolumeSource): Claim | undefined {
  return named && claims.store.get(named.claimName, named.namespace);
}

/** The key of the volume that a source names, by its handle or by a claim that is bound. */
function keyNamed(storage: Bindings, source: VolumeSource): VolumeKey | undefined {
  const claim = claimNamed(storage, source);
  const csi = source.csi ?? (claim && volumeBoundTo(storage, claim)?.csi);
  return csi && volumeKey(csi);
}

/** Anybody may name any PersistentVolume in a claim: it is bound when that names the claim, too. */
function volumeBoundTo({ persistentVolumes }: Bindings, claim: Claim): PersistentVolume | undefined {
  const volume = persistentVolumes.store.get(claim.volumeName);
  return volume?.claimRef?.uid === claim.metadata.uid ? volume : undefined;
}

/** The objects that are reconciled when a claim starts or stops allowing sets (decision 0106). */
export interface ConsentTriggers {
  readonly storage: Pick<Storage, "claims" | "persistentVolumes" | "complete">;
  readonly sets: ObjectStore<SetEntry>;
  readonly gatherer: Pick<Gatherer, "forgetNodesOf">;
  readonly queues: { readonly [queue in "sets" | "nodes" | "readiness"]: Pick<KeyedQueue, "add"> };
  /** The nodes with a pod that was told that a claim does not allow a set. */
  readonly refused: (set: string) => readonly string[];
}

/**
 * A claim that comes, goes, is bound, or allows another set than before, makes the nodes of the sets due that name it,
 * or its volume. So does a PersistentVolume that comes, goes, or names another claim.
 */
export function connectConsents({ storage, sets, gatherer, queues, refused }: ConsentTriggers): Cancel {
  function changed(claim: Claim, isMeant: (set: string) => boolean = () => true): void {
    const csi = volumeBoundTo(storage, claim)?.csi;
    const key = csi && volumeKey(csi);
    asked((source, set) => (namesThisClaim(source, claim) || isOf(source, key)) && isMeant(set));
  }

  function volumeChanged({ csi }: PersistentVolume): void {
    const key = csi && volumeKey(csi);
    if (key !== undefined) asked((source) => isOf(source, key));
  }

  function isOf(source: VolumeSource, key: VolumeKey | undefined): boolean {
    return key !== undefined && isCSI(source) && keyNamed(storage, source) === key;
  }

  function asked(isMeant: (source: VolumeSource, set: string) => boolean): void {
    // When all of them are known, every node is looked at.
    if (!storage.complete()) return;
    const meant = [...sets.list()].flatMap(({ metadata: { name }, spec }) =>
      spec !== undefined && isMeant(spec.volume.source, name) ? [name] : [],
    );
    if (meant.length > 0) due(meant);
  }

  /** All at once: what is worked out for a node is of all its sets. */
  function due(names: readonly string[]): void {
    for (const set of names) queues.sets.add(set);
    for (const node of new Set([...gatherer.forgetNodesOf(names), ...names.flatMap(refused)])) {
      queues.nodes.add(node);
      queues.readiness.add(node);
    }
  }

  const cancels = [
    storage.claims.store.subscribe({
      onAdd: (claim) => changed(claim),
      onUpdate(before, after) {
        if (before.volumeName !== after.volumeName) changed(after);
        // Most changes are of a status.
        else if (!sameJson(before.metadata.labels, after.metadata.labels)) {
          changed(after, (set) => allowsSet(before.metadata.labels, set) !== allowsSet(after.metadata.labels, set));
        }
      },
      onDelete: (claim) => changed(claim),
    }),
    storage.persistentVolumes.store.subscribe({
      onAdd: volumeChanged,
      onUpdate(before, after) {
        if (!sameJson(before.claimRef, after.claimRef)) volumeChanged(after);
      },
      onDelete: volumeChanged,
    }),
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };
}

import { hasTrait, sourceTypes } from "../../api/source-traits.ts";
import type { VolumeSource } from "../../api/types.gen.ts";

/**
 * What a volume is, whoever names it: two PersistentVolumes with one handle are one volume (safety rule 12). Key of the
 * queue that serializes grant, release and detach of it over all nodes. Pure.
 */
export interface VolumeID {
  /** Of a disk that its source names: the kind of the source, as kubelet's plugins are called (disk-id.ts). */
  readonly driver: string;
  readonly volumeHandle: string;
}

declare const brand: unique symbol;

/** Key of a volume, or of an intent whose volume is not known yet: no name of an intent, claim or PersistentVolume. */
export type VolumeKey = string & { readonly [brand]: "VolumeKey" };

/** A driver's name has no "^". */
export function volumeKey({ driver, volumeHandle }: VolumeID): VolumeKey {
  return `${driver}^${volumeHandle}` as VolumeKey;
}

/** PURE. The volume of a queue key; undefined if the key is not that of a volume. */
export function volumeIDOf(key: string): VolumeID | undefined {
  const at = key.indexOf("^");
  if (at <= 0) return undefined;
  return { driver: key.slice(0, at), volumeHandle: key.slice(at + 1) };
}

/** The key of an intent whose volume is not known yet. */
export function unresolvedKey(intent: string): VolumeKey {
  return `^${intent}` as VolumeKey;
}

/** The intent of such a key. */
export function unresolvedIntentOf(key: string): string | undefined {
  return key.startsWith("^") ? key.slice(1) : undefined;
}

/**
 * Whether the grant of such a source waits until the volume is known, attached and nobody else's (safety rule 2). What
 * cannot be read here, or is of a newer version, is granted by none who does not know what it is.
 */
export function isGuarded(source: VolumeSource): boolean {
  return hasTrait(source, "guarded") || isUnknown(source);
}

/** Whether it cannot be read here, or is of a kind that only a newer version knows. */
export function isUnknown(source: VolumeSource): boolean {
  return sourceTypes.every((type) => source[type] === undefined);
}

/** Whether it is a volume of a CSI driver. */
export function isCSI({ csi, persistentVolumeClaim }: VolumeSource): boolean {
  return csi !== undefined || persistentVolumeClaim !== undefined;
}

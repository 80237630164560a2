import type { KubeObject } from "../../api/meta.ts";
import { finalizer, label } from "../../api/names.ts";

/** Our marks on claims and PersistentVolumes, and the patches that set and clear them. Pure. */

interface Patch {
  readonly metadata: object;
}

/** Lists of finalizers are exchanged whole, so a patch is for the very version that it was computed from. */
export function protectPatch({ metadata }: KubeObject): Patch | undefined {
  const { finalizers = [], deletionTimestamp } = metadata;
  // To what is being deleted the API server adds none.
  if (finalizers.includes(finalizer.inUse) || deletionTimestamp !== undefined) return undefined;
  return { metadata: { finalizers: [...finalizers, finalizer.inUse] } };
}

/** PURE. The patch that labels a claim or PersistentVolume as reserved; undefined if it is already. */
export function holdPatch(object: KubeObject): Patch | undefined {
  return isHeld(object) ? undefined : { metadata: { labels: { [label.held]: "" } } };
}

/** Label and finalizer at once. */
export function reservePatch(object: KubeObject): Patch {
  return { metadata: { ...holdPatch(object)?.metadata, ...protectPatch(object)?.metadata } };
}

/** Takes the label off and leaves the finalizer. */
export function unholdPatch(object: KubeObject): object | undefined {
  return isHeld(object) ? { metadata: { labels: { [label.held]: null } } } : undefined;
}

/** Takes all marks off. */
export function releasePatch(object: KubeObject): object | undefined {
  const { finalizers = [] } = object.metadata;
  const protects = finalizers.includes(finalizer.inUse);
  if (!protects && !isHeld(object)) return undefined;
  return {
    metadata: {
      ...(protects && { finalizers: finalizers.filter((name) => name !== finalizer.inUse) }),
      ...(isHeld(object) && { labels: { [label.held]: null } }),
    },
  };
}

/** PURE. Whether a claim or PersistentVolume has our label. */
export function isHeld({ metadata }: KubeObject): boolean {
  return Object.hasOwn(metadata.labels ?? {}, label.held);
}

import { shortDigest } from "../../api/digest.ts";
import { intentPrefix, shortened } from "../../api/intent-name.ts";
import { setLabelPrefix } from "../../api/names.ts";
import { nameOfSource } from "../../api/source-traits.ts";
import type { NodeVolumeIntent, NodeVolumeIntentSpec, VolumeSource } from "../../api/types.gen.ts";
import { canonicalJson } from "../util/canonical-json.ts";

declare const brand: unique symbol;

/** Name of an intent: no name of a set, node or volume. */
export type IntentName = string & { readonly [brand]: "IntentName" };

/** PURE. The name of an intent that there is. */
export function intentNameOf({ metadata }: Pick<NodeVolumeIntent, "metadata">): IntentName {
  return metadata.name as IntentName;
}

/** What makes a volume on a node the volume that it is. Everything else about it can be changed in place. */
export interface VolumeIdentity {
  readonly intentName: IntentName;
  /** Name for people, by the source alone: two sets with one source have one volume. */
  readonly volumeName: string;
  readonly source: VolumeSource;
  readonly volumeMode: NodeVolumeIntentSpec["volumeMode"];
  readonly fsType: NodeVolumeIntentSpec["fsType"] | undefined;
}

/** The set's part in an identity: an emptyDir belongs to its set, and to a re-created set of the same name another. */
export interface IdentityInput {
  readonly nodeName: string;
  readonly setName: string;
  readonly setUID: string;
  readonly volume: {
    readonly source: VolumeSource;
    readonly volumeMode: NodeVolumeIntentSpec["volumeMode"];
    readonly fsType?: NodeVolumeIntentSpec["fsType"];
  };
}

const longestVolumeName = 40;
const longestLabel = 63;

/**
 * PURE. Which intent a set's volume belongs to on a node. Sets that name the same source in the same way share one
 * intent, but for emptyDir.
 */
export function volumeIdentity({ nodeName, setName, setUID, volume }: IdentityInput): VolumeIdentity {
  const source = normalSource(volume.source);
  const { volumeMode, fsType } = volume;
  const belongsToSet = source.emptyDir !== undefined;
  const volumeName = belongsToSet ? slug(setName, "set") : slug(nameOfSource(source), sourceType(source));
  const hash = shortDigest(
    canonicalJson({ node: nodeName, source, volumeMode, fsType, ...(belongsToSet && { set: setUID }) }),
  );
  const intentName = `${intentPrefix(nodeName)}${volumeName}-${hash}` as IntentName;
  return { intentName, volumeName, source, volumeMode, fsType };
}

/**
 * The intent by which a claim that pods have from kubelet is looked at on a node: another than one that manages the
 * claim.
 */
export function observedIdentity(nodeName: string, namespace: string, claimName: string) {
  const hash = shortDigest(canonicalJson({ node: nodeName, observed: { namespace, claimName } }));
  const volumeName = slug(claimName, "claim");
  return { intentName: `${intentPrefix(nodeName)}${volumeName}-${hash}` as IntentName, volumeName };
}

/**
 * Whether two sources are one. An intent's name has ten digits of a hash: who looks for long enough finds a claim's
 * name that gives that of another volume's intent, so nothing goes into an intent for its name alone.
 */
export function sameSource(a: VolumeSource, b: VolumeSource): boolean {
  return canonicalJson(normalSource(a)) === canonicalJson(normalSource(b));
}

/** The kind of a source: the one member that it has. */
export function sourceType(source: VolumeSource): string {
  return Object.keys(source)[0] ?? "unknown";
}

/** A node's name as a label value. */
export function nodeLabel(nodeName: string): string {
  return shortened(nodeName, longestLabel);
}

/** Key of the label that says that a set has mounts in an intent. */
export function setLabel(set: string): string {
  return `${setLabelPrefix}${set}`;
}

/**
 * The sets that an intent belongs to: by its mounts, and by labels that stay until the node has let their mounts go.
 */
export function requestersOf({ metadata, spec }: NodeVolumeIntent): Set<string> {
  const mounted = spec.mounts.map((mount) => mount.requester.name);
  return new Set([...mounted, ...labelledSets(metadata)]);
}

/** The sets whose label an intent has. */
export function labelledSets({ labels = {} }: Pick<NodeVolumeIntent["metadata"], "labels">): string[] {
  const keys = Object.keys(labels).filter((key) => key.startsWith(setLabelPrefix));
  return keys.map((key) => key.slice(setLabelPrefix.length));
}

/** Members that say what holds without them are left out, so that they do not make another volume. */
function normalSource(source: VolumeSource): VolumeSource {
  const { projected, ...other } = source;
  const normal = normalMembers(other);
  if (projected === undefined) return normal;
  return { ...normal, projected: { ...projected, sources: projected.sources.map(normalMembers) } };
}

function normalMembers<T extends object>(source: T): T {
  const entries = Object.entries(source).map(([type, members]) => {
    const kept = Object.entries(members as object).filter(
      ([, value]) =>
        value !== undefined && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0),
    );
    return [type, Object.fromEntries(kept)];
  });
  return Object.fromEntries(entries) as T;
}

/** `text` as a part of a DNS name, or `otherwise` if nothing of it can stand there. */
function slug(text: string, otherwise: string): string {
  const clean = (part: string) =>
    part
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, longestVolumeName)
      .replace(/^-+|-+$/g, "");
  return clean(text) || clean(otherwise);
}

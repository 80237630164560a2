import { codePoints } from "./code-points.ts";
import { cut } from "./conditions.ts";

/** What an inline volume of csi.nodevolume.dev requests in its pod's name. */
export interface PodVolumeRequest {
  /** A NodeVolumeSet, or a claim of the pod's own namespace. */
  readonly wants: { readonly set: string } | { readonly persistentVolumeClaim: string };
  readonly readOnly: boolean;
  /** Relative path beneath the volume. */
  readonly subPath?: string;
}

/** An attribute that cannot be meant. */
export interface BadAttribute {
  /** As in the pod, such as `csi.volumeAttributes[set]`. */
  readonly field: string;
  /** What is wrong, and what to write instead. */
  readonly message: string;
}

/** What a pod may write. All others are refused: a misspelt readOnly would be a volume that can be written to. */
export const podAttributes = ["set", "persistentVolumeClaim", "subPath", "readOnly"] as const;

/** Attributes that kubelet adds (behaviour 105); a pod that writes such a one itself gains nothing by it. */
const kubelets = "csi.storage.k8s.io/";

/** Of objects' names (RFC 1123 subdomain). */
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const longestName = 253;
/** As of pods[].subPath in the CRD. */
const longestSubPath = 512;
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * PURE. What the attributes of an inline volume say, or what is wrong with them.
 * @param attributes volumeAttributes of the pod, or the volume_context that kubelet makes of them
 * @param readOnly csi.readOnly of the pod's volume
 */
export function podVolumeRequest(
  attributes: ReadonlyMap<string, string>,
  readOnly: boolean,
): PodVolumeRequest | BadAttribute {
  for (const key of attributes.keys()) {
    if (key.startsWith(kubelets) || (podAttributes as readonly string[]).includes(key)) continue;
    return bad(cut(key, 63), `is not known; there are ${podAttributes.join(", ")}`);
  }
  const set = attributes.get("set");
  const claim = attributes.get("persistentVolumeClaim");
  if (set === undefined && claim === undefined) {
    return bad("set", "or persistentVolumeClaim is needed: a NodeVolumeSet, or a claim of the pod's own namespace");
  }
  if (set !== undefined && claim !== undefined) return bad("set", "and persistentVolumeClaim exclude each other");
  for (const [key, name] of Object.entries({ set, persistentVolumeClaim: claim })) {
    if (name !== undefined && (name.length > longestName || !objectName.test(name)))
      return bad(key, `must be the name of an object, not ${JSON.stringify(cut(name, 63))}`);
  }
  const subPath = attributes.get("subPath");
  if (subPath !== undefined && !isSubPath(subPath)) {
    return bad("subPath", "must be a relative path without '.', '..', '//', control characters or a trailing '/'");
  }
  const only = attributes.get("readOnly");
  if (only !== undefined && only !== "true" && only !== "false") return bad("readOnly", 'must be "true" or "false"');
  return {
    wants: set !== undefined ? { set } : { persistentVolumeClaim: claim ?? "" },
    readOnly: readOnly || only === "true",
    ...(subPath !== undefined && { subPath }),
  };
}

/** PURE. Tells the two apart. */
export function isBadAttribute(wish: PodVolumeRequest | BadAttribute): wish is BadAttribute {
  return "field" in wish;
}

/** The rule of pods[].subPath in the CRD. */
function isSubPath(path: string): boolean {
  if (codePoints(path) > longestSubPath || unprintable.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function bad(attribute: string, message: string): BadAttribute {
  return { field: `csi.volumeAttributes[${attribute}]`, message };
}

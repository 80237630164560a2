import type { NodeVolumeIntent } from "../../api/types.gen.ts";

/** Why a volume keeps a node from being drained. */
export interface Holding {
  readonly node: string;
  readonly volume: string;
  readonly name: string;
  readonly state: string;
  readonly why: string;
}

/**
 * PURE. What a node still has of ours, by safety rule 23: a grant that was not given back, or a volume that may be in
 * use. Observe intents have no grant and never count (rule 27). Status is for people: who detaches reads more than
 * this.
 */
export function holdingOf({ metadata, spec, status = {} }: NodeVolumeIntent): Holding | undefined {
  if (spec.mode === "Observe") return undefined;
  const base = { node: spec.nodeName, volume: spec.volumeName, name: metadata.name, state: status.state ?? "Unknown" };
  const answers =
    status.observedUID === metadata.uid &&
    status.observedGeneration === metadata.generation &&
    status.grantID === spec.grant?.id;
  if (status.inUse !== false && (spec.grant !== undefined || status.inUse === true)) {
    const word = status.waiting === undefined ? "" : `: ${status.waiting.reason}`;
    return { ...base, why: status.inUse === true ? `in use${word}` : `perhaps in use${word}` };
  }
  if (spec.grant === undefined) return undefined;
  if (metadata.deletionTimestamp === undefined) return { ...base, why: "granted: a set still uses it there" };
  return answers && status.state === "Released"
    ? { ...base, why: "released; the controller has not removed it yet" }
    : { ...base, why: "its release is not acknowledged" };
}

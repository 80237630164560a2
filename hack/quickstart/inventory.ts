/** What a run on somebody's cluster finds, makes and may remove: pure. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly [key: string]: string };
  };
  readonly [key: string]: unknown;
}

/**
 * On everything that quickstart made in a cluster that is not its own: by it a later run finds what a killed one left.
 */
export const madeByQuickstart = "nodevolume.dev/quickstart";

export interface Inventory {
  /** To be made, with the label. */
  readonly missing: readonly Manifest[];
  /** There, and not ours to remove. */
  readonly foreign: readonly Manifest[];
  /** There since a run of ours that did not end by itself. */
  readonly left: readonly Manifest[];
}

export function takeInventory(wanted: readonly Manifest[], found: readonly Manifest[]): Inventory {
  const there = new Map(found.map((object) => [keyOf(object), object]));
  const ours = (object: Manifest) => there.get(keyOf(object))?.metadata.labels?.[madeByQuickstart] !== undefined;
  return {
    missing: wanted.filter((object) => !there.has(keyOf(object))).map(withLabel),
    foreign: wanted.filter((object) => there.has(keyOf(object)) && !ours(object)),
    left: wanted.filter((object) => there.has(keyOf(object)) && ours(object)),
  };
}

export function withLabel(object: Manifest): Manifest {
  const labels = { ...object.metadata.labels, [madeByQuickstart]: "true" };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** A set for one Node only: the cluster may have others, on which no agent runs. */
export function onlyOn(node: string, object: Manifest): Manifest {
  if (object.kind !== "NodeVolumeSet") return object;
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } };
  return { ...object, spec: { ...(object["spec"] as object), affinity } };
}

/** `kind/namespace/name`, and the group of the kind. */
export function keyOf({ apiVersion, kind, metadata }: Manifest): string {
  return `${apiVersion.split("/").slice(0, -1).join()} ${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}

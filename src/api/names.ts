/** Names of the API that are used on both sides. */

export const group = "nodevolume.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;

/** Namespace of the controller, its agents, their Leases and their configuration. */
export const systemNamespace = "nodevolume-system";

/** Lease of the controller that leads, in the system namespace, where each agent has a Lease by its node's name. */
export const leaderLease = "nodevolume-controller";

export const label = {
  /** Node of an intent. Cut and hashed if the name is longer than a label value may be; spec.nodeName is exact. */
  node: "nodevolume.dev/node",
  /** The set that asks for the volume; the oldest one if several do. */
  set: "nodevolume.dev/set",
  /** Kind of source: emptyDir, hostPath, … */
  type: "nodevolume.dev/type",
  /** On a Node, with any value: stop set-up and repair there. */
  suspend: "nodevolume.dev/suspend",
} as const;

/** Prefix of one label for each set that asks for the volume of an intent: `set.nodevolume.dev/<set>`. */
export const setLabelPrefix = "set.nodevolume.dev/";

export const finalizer = {
  /** On intents: kept until the agent has acknowledged the release. */
  inUse: "nodevolume.dev/in-use",
  /** On sets: kept until every intent of the set is gone. */
  unmount: "nodevolume.dev/unmount",
} as const;

export const annotation = {
  /** On an intent: an administrator's word that the node holds nothing. The value says who and why. */
  release: "nodevolume.dev/release",
} as const;

export const fieldManager = {
  controller: "nodevolume-controller",
  agent: "nodevolume-agent",
} as const;

/** Kinds of the API with the plural that stands in URLs. */
export const resource = {
  sets: { group, version, plural: "nodevolumesets", kind: "NodeVolumeSet" },
  intents: { group, version, plural: "nodevolumeintents", kind: "NodeVolumeIntent" },
  states: { group, version, plural: "nodevolumestates", kind: "NodeVolumeState" },
  nodes: { group: "", version: "v1", plural: "nodes", kind: "Node" },
  configMaps: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
  secrets: { group: "", version: "v1", plural: "secrets", kind: "Secret" },
  leases: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" },
  events: { group: "", version: "v1", plural: "events", kind: "Event" },
} as const satisfies { [name: string]: Resource };

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** Names of the API that are used on both sides. */

export const group = "nodevolume.dev";
export const version = "v1alpha1";
/** apiVersion of all our objects. */
export const apiVersion = `${group}/${version}`;

/** Namespace of the controller, its agents, their Leases and their configuration. */
export const systemNamespace = "nodevolume-system";

/** The CSI driver by which pods use node volumes: the agents are it, and pods name it in their inline volumes. */
export const podDriver = "csi.nodevolume.dev";

/** Lease of the controller that leads, in the system namespace, where each agent has a Lease by its node's name. */
export const leaderLease = "nodevolume-controller";

/**
 * A Lease that is nobody's and is never made, by which an agent finds out whether it could write for others. No rule
 * but that may refuse it.
 */
export const policyProbe = "policy-probe.nodevolume.dev";

/** Names that a Node may have, and that are no agent's Lease: no agent serves such a Node. */
export const reservedNodeNames: readonly string[] = [leaderLease, policyProbe];

/** Labels that the controller writes. */
export const label = {
  /** Node of an intent. Cut and hashed if the name is longer than a label value may be; spec.nodeName is exact. */
  node: "nodevolume.dev/node",
  /** The set that asks for the volume; the oldest one if several do. */
  set: "nodevolume.dev/set",
  /** Kind of source: emptyDir, hostPath, … */
  type: "nodevolume.dev/type",
  /** On a Node, with any value: stop set-up and repair there. */
  suspend: "nodevolume.dev/suspend",
  /** On a PersistentVolumeClaim: an intent holds it, so no pod may name it (config/policy/claims.yaml). */
  held: "nodevolume.dev/held",
  /**
   * On a PersistentVolumeClaim, by its owner: it is for node volumes alone, so no pod may name it
   * (config/policy/claims.yaml).
   */
  reserved: "nodevolume.dev/reserved",
} as const;

/** Prefix of one label for each set that asks for the volume of an intent: `set.nodevolume.dev/<set>`. */
export const setLabelPrefix = "set.nodevolume.dev/";

/**
 * Prefix of one label for each set that a PersistentVolumeClaim allows, by its owner:
 * `allowed-set.nodevolume.dev/<set>: "true"`. Every other value allows nothing.
 */
export const allowedSetLabelPrefix = "allowed-set.nodevolume.dev/";

/** Our finalizers. */
export const finalizer = {
  /**
   * On intents: kept until the agent has acknowledged the release. On claims and PersistentVolumes: while an intent
   * uses them.
   */
  inUse: "nodevolume.dev/in-use",
  /** On sets: kept until every intent of the set is gone. */
  unmount: "nodevolume.dev/unmount",
} as const;

/** Annotations that we read or write. */
export const annotation = {
  /** On an intent: an administrator's word that the node holds nothing. The value says who and why. */
  release: "nodevolume.dev/release",
  /**
   * On a VolumeAttachment of ours: the id of the grant that rests on it. With it, somebody may use the volume there.
   */
  grant: "nodevolume.dev/grant",
  /** On a VolumeAttachment of ours: the intent that it was made for. */
  intent: "nodevolume.dev/intent",
  /**
   * What the driver calls the volume: on a VolumeAttachment of ours, and on a PersistentVolume whose own fields do not
   * say it.
   */
  volumeHandle: "nodevolume.dev/volume-handle",
  /** On a PersistentVolume of a plugin that named no Secret: NAMESPACE/NAME of the one that its driver wants. */
  publishSecret: "nodevolume.dev/node-publish-secret",
  /**
   * On a PersistentVolume: the group that a pod needs for its files. kubelet gives it to pods whose volume it mounts
   * itself (behaviour 28).
   */
  gid: "pv.beta.kubernetes.io/gid",
  /** On a claim: the node that a provisioner shall make the volume for. */
  selectedNode: "volume.kubernetes.io/selected-node",
} as const;

/** What Nodes and Pods show of our volumes (decision 0039). */
export const readiness = {
  /**
   * Key of the taint on a Node that still has no volume of a set with `nodeReadiness: Taint`. All taints with it are
   * ours.
   */
  taint: "nodevolume.dev/not-ready",
  /** Type of the condition on a Node. */
  nodeCondition: "NodeVolumesReady",
  /** Type of the condition on a Pod with volumes of csi.nodevolume.dev; it can be one of its readinessGates. */
  podCondition: "nodevolume.dev/VolumesReady",
} as const;

/** Scheduling gates of pods. */
export const gate = {
  /** All that begin so are ours; what follows is the name of a set that the pod waits for. */
  prefix: "nodevolume.dev/",
  /** The pod waits for its volumes of csi.nodevolume.dev to be had somewhere (components/scheduling-gates). */
  volumes: "nodevolume.dev/volumes",
} as const;

/** Field managers of our writes (server-side apply, managedFields). */
export const fieldManager = { controller: "nodevolume-controller", agent: "nodevolume-agent" } as const;

/** Kinds of the API with the plural that stands in URLs. */
export const resource = {
  sets: { group, version, plural: "nodevolumesets", kind: "NodeVolumeSet" },
  intents: { group, version, plural: "nodevolumeintents", kind: "NodeVolumeIntent" },
  states: { group, version, plural: "nodevolumestates", kind: "NodeVolumeState" },
  nodes: { group: "", version: "v1", plural: "nodes", kind: "Node" },
  configMaps: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
  secrets: { group: "", version: "v1", plural: "secrets", kind: "Secret" },
  serviceAccounts: { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount" },
  clusterTrustBundles: {
    group: "certificates.k8s.io",
    version: "v1beta1",
    plural: "clustertrustbundles",
    kind: "ClusterTrustBundle",
  },
  leases: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" },
  events: { group: "", version: "v1", plural: "events", kind: "Event" },
  namespaces: { group: "", version: "v1", plural: "namespaces", kind: "Namespace" },
  pods: { group: "", version: "v1", plural: "pods", kind: "Pod" },
  claims: { group: "", version: "v1", plural: "persistentvolumeclaims", kind: "PersistentVolumeClaim" },
  persistentVolumes: { group: "", version: "v1", plural: "persistentvolumes", kind: "PersistentVolume" },
  volumeAttachments: { group: "storage.k8s.io", version: "v1", plural: "volumeattachments", kind: "VolumeAttachment" },
  csiNodes: { group: "storage.k8s.io", version: "v1", plural: "csinodes", kind: "CSINode" },
  csiDrivers: { group: "storage.k8s.io", version: "v1", plural: "csidrivers", kind: "CSIDriver" },
  storageClasses: { group: "storage.k8s.io", version: "v1", plural: "storageclasses", kind: "StorageClass" },
  tokenReviews: { group: "authentication.k8s.io", version: "v1", plural: "tokenreviews", kind: "TokenReview" },
  subjectAccessReviews: {
    group: "authorization.k8s.io",
    version: "v1",
    plural: "subjectaccessreviews",
    kind: "SubjectAccessReview",
  },
  policies: {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingadmissionpolicies",
    kind: "ValidatingAdmissionPolicy",
  },
  policyBindings: {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingadmissionpolicybindings",
    kind: "ValidatingAdmissionPolicyBinding",
  },
} as const satisfies { [name: string]: Resource };

/** A resource of the API server, as its path names it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** Where flexvolume drivers are on a node, if nobody says otherwise: kubelet's --volume-plugin-dir. */
export const flexVolumeDir = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec";

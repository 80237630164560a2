import { podDriver, systemNamespace } from "../api/names.ts";
import { againEvent, type BodyCheck, boundToken, ownEvent, ownLease, probedLease, statusPatch } from "./bodies.ts";
import type { Verb } from "./queries.ts";

/**
 * One thing that an agent asks of the API server. In paths and selectors {own} is the node's name, {intent} the name of
 * an intent of the node, {policy} one of the policies that an agent rests on; {namespace}, {name}, {bundle} and
 * {signer} are any that could be one.
 */
export interface Rule {
  readonly name: string;
  readonly verbs: readonly Verb[];
  readonly path: string;
  /** The fieldSelector of a list or watch. */
  readonly fieldSelector?: string;
  /** Whether there may be a labelSelector, too. */
  readonly labelSelector?: true;
  /** Whether the agent may also ask as its own node, and be told what is of that node alone (KEP-5284). */
  readonly asNode?: true;
  readonly body?: BodyCheck;
  /** Bytes of the longest body, if it may be longer than `longestBody`. */
  readonly longest?: number;
}

const ours = "/apis/nodevolume.dev/v1alpha1";
const lease = "/apis/coordination.k8s.io/v1/namespaces";
const ownLeases = `${lease}/${systemNamespace}/leases`;
const events = "/api/v1/namespaces/default/events";
const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
const admission = "/apis/admissionregistration.k8s.io/v1";
const namespace = "/api/v1/namespaces/{namespace}";

const collection = ["list", "watch"] as const;
/** What etcd takes of one object. */
const longestStatus = 1_536 * 1024;
/** Bytes of the longest body but that of a status. */
export const longestBody = 32 * 1024;

/**
 * PURE. All that an agent asks of the API server: the closed set of the proxy. config/rbac grants no more than this and
 * what a namespace adds; what is granted and not here is refused. A new request of the agent needs a row.
 */
export const rules: readonly Rule[] = [
  // The intents of the node, in both ways of hearing of them, and what the agent says of them.
  { name: "intents", verbs: collection, path: `${ours}/nodevolumeintents`, fieldSelector: "spec.nodeName={own}" },
  { name: "intent", verbs: ["get"], path: `${ours}/nodevolumeintents/{intent}` },
  {
    name: "intent-status",
    verbs: ["patch"],
    path: `${ours}/nodevolumeintents/{intent}/status`,
    body: statusPatch(["attach", "agentState"]),
    longest: longestStatus,
  },
  { name: "state", verbs: collection, path: `${ours}/nodevolumestates`, fieldSelector: "metadata.name={own}" },
  {
    name: "state-status",
    verbs: ["patch"],
    path: `${ours}/nodevolumestates/{own}/status`,
    body: statusPatch(),
    longest: longestStatus,
  },
  // The sign of life, and whether the policy that keeps agents apart is in force.
  { name: "lease", verbs: ["get"], path: `${ownLeases}/{own}` },
  { name: "lease-create", verbs: ["create"], path: ownLeases, body: ownLease },
  { name: "lease-renew", verbs: ["update"], path: `${ownLeases}/{own}`, body: ownLease },
  { name: "policy-probe", verbs: ["probe"], path: ownLeases, body: probedLease },
  // The policies that the agent rests on, as objects.
  { name: "policy", verbs: ["get"], path: `${admission}/validatingadmissionpolicies/{policy}` },
  {
    name: "policies",
    verbs: collection,
    path: `${admission}/validatingadmissionpolicies`,
    fieldSelector: "metadata.name={policy}",
  },
  { name: "policy-binding", verbs: ["get"], path: `${admission}/validatingadmissionpolicybindings/{policy}` },
  {
    name: "policy-bindings",
    verbs: collection,
    path: `${admission}/validatingadmissionpolicybindings`,
    fieldSelector: "metadata.name={policy}",
  },
  // For people.
  { name: "event", verbs: ["create"], path: events, body: ownEvent },
  { name: "event-again", verbs: ["patch"], path: `${events}/{name}`, body: againEvent },
  // Content of volumes, and Secrets that they need: what a namespace has granted, or what is of this node.
  { name: "secret", verbs: ["get"], path: `${namespace}/secrets/{name}`, asNode: true },
  { name: "secret-content", verbs: collection, path: `${namespace}/secrets`, fieldSelector: "metadata.name={name}" },
  { name: "config-map", verbs: ["get"], path: `${namespace}/configmaps/{name}` },
  {
    name: "config-map-content",
    verbs: collection,
    path: `${namespace}/configmaps`,
    fieldSelector: "metadata.name={name}",
  },
  { name: "token", verbs: ["token"], path: `${namespace}/serviceaccounts/{name}/token`, body: boundToken },
  { name: "trust-bundle", verbs: collection, path: bundles, fieldSelector: "metadata.name={bundle}" },
  {
    name: "trust-bundles",
    verbs: collection,
    path: bundles,
    fieldSelector: "spec.signerName={signer}",
    labelSelector: true,
  },
  { name: "node", verbs: ["get"], path: "/api/v1/nodes/{own}", asNode: true },
  { name: "node-fields", verbs: collection, path: "/api/v1/nodes", fieldSelector: "metadata.name={own}", asNode: true },
  // What kubelet has on the node, before anything is removed there; and how it calls the driver for pods.
  { name: "pods", verbs: ["list"], path: "/api/v1/pods", fieldSelector: "spec.nodeName={own}", asNode: true },
  { name: "kubelet-lease", verbs: ["get"], path: `${lease}/kube-node-lease/leases/{own}`, asNode: true },
  { name: "csi-driver", verbs: ["get"], path: `/apis/storage.k8s.io/v1/csidrivers/${podDriver}` },
];

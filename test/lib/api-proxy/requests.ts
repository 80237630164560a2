import { decide, decideBody, type RequestHead } from "../../../src/api-proxy/decide.ts";
import { type Own, ownOf } from "../../../src/api-proxy/own.ts";

/** A request of an agent, as it goes over the socket. */
export interface AgentRequest extends RequestHead {
  readonly body?: string;
}

export const node = "node-1";
export const own = ownOf(node);
export const intent = "node-1.scratch-9a8fb0fbcd";
const manager = "fieldManager=nodevolume-agent&fieldValidation=Strict";
const ours = "/apis/nodevolume.dev/v1alpha1";
const leases = "/apis/coordination.k8s.io/v1/namespaces/nodevolume-system/leases";
const watching = "watch=true&allowWatchBookmarks=true&timeoutSeconds=431";
const beginning = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

export const common = [
  "Host",
  "api-proxy",
  "Connection",
  "keep-alive",
  "accept",
  "application/json",
  "user-agent",
  "agent/1",
];

function read(target: string, asUser?: string): AgentRequest {
  const headers = [...common, ...(asUser === undefined ? [] : ["impersonate-user", asUser])];
  return { method: "GET", target, headers };
}

export function write(method: string, target: string, value: unknown): AgentRequest {
  const body = typeof value === "string" ? value : JSON.stringify(value);
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const length = String(Buffer.byteLength(body));
  return { method, target, headers: [...common, "content-type", type, "content-length", length], body };
}

const both = (path: string, selectors: string) => [
  read(`${path}?limit=500&${selectors}`),
  read(`${path}?limit=500&${selectors}&continue=eyJ2IjoibWV0YSJ9`),
  read(`${path}?${watching}&${selectors}${beginning}`),
  read(`${path}?${watching}&${selectors}&resourceVersion=4711`),
];

const asNode = `system:node:${node}`;
const preconditions = { uid: "8a1f", resourceVersion: "12" };

export const bodies = {
  intentStatus: { status: { state: "Mounted", inUse: true }, metadata: preconditions },
  stateStatus: { status: { volumes: [] }, metadata: preconditions },
  lease: {
    metadata: { namespace: "nodevolume-system", name: node },
    spec: { holderIdentity: node, leaseDurationSeconds: 180, renewTime: "2026-01-01T00:00:00.000000Z" },
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
  },
  probe: {
    metadata: { namespace: "nodevolume-system", name: "policy-probe.nodevolume.dev" },
    spec: {},
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
  },
  event: {
    metadata: { namespace: "default", name: `${intent}.4e0b` },
    involvedObject: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeIntent", name: intent, uid: "8a1f" },
    ...{ type: "Warning", reason: "Drifted", message: "unmounted by somebody", count: 1 },
    ...{ firstTimestamp: "2026-01-01T00:00:00Z", lastTimestamp: "2026-01-01T00:00:00Z" },
    source: { component: "nodevolume-agent", host: node },
    ...{ reportingComponent: "nodevolume-agent", reportingInstance: node, apiVersion: "v1", kind: "Event" },
  },
  again: { count: 2, lastTimestamp: "2026-01-01T00:00:00Z", message: "unmounted by somebody", metadata: {} },
  token: {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {
      audiences: ["vault"],
      expirationSeconds: 3600,
      boundObjectRef: { apiVersion: "v1", kind: "Node", name: node },
    },
  },
} as const;

export const paths = {
  intentStatus: `${ours}/nodevolumeintents/${intent}/status?${manager}`,
  stateStatus: `${ours}/nodevolumestates/${node}/status?${manager}`,
  leases: `${leases}?${manager}`,
  lease: `${leases}/${node}?${manager}`,
  probe: `${leases}?${manager}&dryRun=All`,
  events: `/api/v1/namespaces/default/events?${manager}`,
  event: `/api/v1/namespaces/default/events/${intent}.4e0b?${manager}`,
  token: "/api/v1/namespaces/team/serviceaccounts/reader/token",
} as const;

const admission = "/apis/admissionregistration.k8s.io/v1";
const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";

/** What an agent asks, by the rule that is for it. */
export const asked: { readonly [rule: string]: readonly AgentRequest[] } = {
  intents: both(`${ours}/nodevolumeintents`, `fieldSelector=spec.nodeName%3D${node}`),
  intent: [read(`${ours}/nodevolumeintents/${intent}`)],
  "intent-status": [write("PATCH", paths.intentStatus, bodies.intentStatus)],
  state: both(`${ours}/nodevolumestates`, `fieldSelector=metadata.name%3D${node}`),
  "state-status": [write("PATCH", paths.stateStatus, bodies.stateStatus)],
  lease: [read(`${leases}/${node}`)],
  "lease-create": [write("POST", paths.leases, bodies.lease)],
  "lease-renew": [write("PUT", paths.lease, bodies.lease)],
  "policy-probe": [write("POST", paths.probe, bodies.probe)],
  policy: [read(`${admission}/validatingadmissionpolicies/nodevolume-intents`)],
  policies: both(`${admission}/validatingadmissionpolicies`, "fieldSelector=metadata.name%3Dnodevolume-agents"),
  "policy-binding": [read(`${admission}/validatingadmissionpolicybindings/nodevolume-agents`)],
  "policy-bindings": both(
    `${admission}/validatingadmissionpolicybindings`,
    "fieldSelector=metadata.name%3Dnodevolume-intents",
  ),
  event: [write("POST", paths.events, bodies.event)],
  "event-again": [write("PATCH", paths.event, bodies.again)],
  secret: ["db", "db.v2"].flatMap((name) => {
    const path = `/api/v1/namespaces/team/secrets/${name}`;
    return [read(path), read(path, asNode)];
  }),
  "secret-content": both("/api/v1/namespaces/team/secrets", "fieldSelector=metadata.name%3Ddb"),
  "config-map": [read("/api/v1/namespaces/team/configmaps/site")],
  "config-map-content": both("/api/v1/namespaces/team/configmaps", "fieldSelector=metadata.name%3Dsite"),
  token: [write("POST", paths.token, bodies.token)],
  "trust-bundle": both(bundles, "fieldSelector=metadata.name%3Dexample.com%3Aca%3Av1"),
  "trust-bundles": [
    ...both(bundles, "fieldSelector=spec.signerName%3Dexample.com%2Fca"),
    ...both(bundles, "labelSelector=tier+in+%28a%2Cb%29%2C%21old&fieldSelector=spec.signerName%3Dexample.com%2Fca"),
  ],
  node: [read(`/api/v1/nodes/${node}`), read(`/api/v1/nodes/${node}`, asNode)],
  "node-fields": both("/api/v1/nodes", `fieldSelector=metadata.name%3D${node}`).flatMap(({ target }) => [
    read(target),
    read(target, asNode),
  ]),
  pods: [
    read(`/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3D${node}`),
    read(`/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3D${node}&continue=abc`, asNode),
  ],
  "kubelet-lease": ["", asNode].map((user) =>
    read(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`, user === "" ? undefined : user),
  ),
  "csi-driver": [read("/apis/storage.k8s.io/v1/csidrivers/csi.nodevolume.dev")],
};

export function first(rule: string, index = 0): AgentRequest {
  const request = asked[rule]?.[index];
  if (request === undefined) throw new Error(`nothing is asked for ${rule}`);
  return request;
}

/** The rule that lets a request through, or why none does. */
export function judge(request: AgentRequest, of: Own = own): string {
  const call = decide(request, of);
  if ("kind" in call) return `${call.kind}: ${call.message}`;
  if (request.body === undefined) return call.rule.name;
  const decided = decideBody(call, request.body, of);
  return "kind" in decided ? `${decided.kind}: ${decided.message}` : call.rule.name;
}

import { expect } from "chai";
import { type ApiAnswer, type ApiClient, mergePatch } from "../../../hack/lib/api-client.ts";
import { type BoundTo, requestToken } from "../../../hack/lib/control-plane/identities.ts";
import { createNodeObject, type NodeRef } from "../../../hack/lib/pretend-node/object.ts";
import type { TestCluster } from "./cluster.ts";

export const paths = {
  intents: "/apis/nodevolume.dev/v1alpha1/nodevolumeintents",
  states: "/apis/nodevolume.dev/v1alpha1/nodevolumestates",
  leases: "/apis/coordination.k8s.io/v1/namespaces/nodevolume-system/leases",
} as const;

/** Two nodes with an intent each, and everybody who may want to write: to be asked what the policies let through. */
export interface PolicyWorld {
  readonly own: NodeRef;
  readonly other: NodeRef;
  /** With a token bound to `own`. */
  readonly agent: ApiClient;
  /** The same ServiceAccount with a token bound to nothing. */
  readonly homeless: ApiClient;
  readonly controller: ApiClient;
  /** Intents by whose they are. */
  readonly intents: { readonly own: string; readonly other: string; readonly stranger: string };
  remove(): Promise<void>;
}

/** @param prefix of the names of all objects, so that several worlds fit into one cluster */
export async function policyWorld(cluster: TestCluster, prefix: string): Promise<PolicyWorld> {
  const own = await createNodeObject(cluster.admin, `${prefix}-own`);
  const other = await createNodeObject(cluster.admin, `${prefix}-other`);
  const controller = cluster.as(await cluster.token("nodevolume-controller"));
  const intents = { own: `${prefix}-a`, other: `${prefix}-b`, stranger: `${prefix}-stranger` };
  const nodes = { own, other, stranger: { name: own.name, uid: "an-earlier-node" } };
  for (const whose of ["own", "other", "stranger"] as const) {
    const body = intentOn(nodes[whose], intents[whose]);
    expectStatus(201, await controller.call("POST", paths.intents, { body }));
  }
  for (const { name } of [own, other]) {
    const body = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeState", metadata: { name } };
    expectStatus(201, await controller.call("POST", paths.states, { body }));
  }
  return {
    own,
    other,
    agent: cluster.as(await cluster.token("nodevolume-agent", { kind: "Node", ...own })),
    homeless: cluster.as(await cluster.token("nodevolume-agent")),
    controller,
    intents,
    async remove() {
      for (const name of Object.values(intents)) {
        await patch(cluster.admin, `${paths.intents}/${name}`, { metadata: { finalizers: null } });
        await cluster.admin.call("DELETE", `${paths.intents}/${name}`);
      }
      for (const { name } of [own, other]) {
        await cluster.admin.call("DELETE", `${paths.states}/${name}`);
        await cluster.admin.call("DELETE", `/api/v1/nodes/${name}`);
        await cluster.admin.call("DELETE", `${paths.leases}/${name}`);
      }
    },
  };
}

/**
 * An account of ours with its rights in another namespace, as kustomize makes it of an overlay with `namespace:`, until
 * it is disposed of.
 */
export async function movedAccount(
  cluster: TestCluster,
  name: "nodevolume-agent" | "nodevolume-controller",
  namespace: string,
): Promise<AsyncDisposable & { client(boundTo?: BoundTo): Promise<ApiClient> }> {
  const { admin } = cluster;
  const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const metadata = { name: namespace };
  expectStatus(201, await admin.call("POST", "/api/v1/namespaces", { body: { metadata } }));
  const account = { metadata: { name } };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  expectStatus(201, await admin.call("POST", accounts, { body: account }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  expectStatus(201, await admin.call("POST", bindings, { body: { metadata, roleRef, subjects } }));
  return {
    client: async (boundTo) => cluster.as(await requestToken(admin, name, boundTo, namespace)),
    async [Symbol.asyncDispose]() {
      await admin.call("DELETE", `${bindings}/${namespace}`);
      await admin.call("DELETE", `/api/v1/namespaces/${namespace}`);
    },
  };
}

export function intentOn(node: NodeRef, name: string) {
  return {
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeIntent",
    metadata: { name, finalizers: ["nodevolume.dev/in-use"] },
    spec: {
      nodeName: node.name,
      nodeUID: node.uid,
      volumeName: name,
      mode: "Manage",
      volumeMode: "Filesystem",
      source: { emptyDir: { medium: "Memory" } },
      grant: { id: "11111111-2222-3333-4444-555555555555" },
      mounts: [
        {
          name: "host",
          requester: { kind: "NodeVolumeSet", name: "policy", uid: "u" },
          path: `/mnt/nodevolume/${name}`,
          readOnly: false,
        },
      ],
    },
  };
}

export function leaseOf(name: string) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name },
    spec: { holderIdentity: name, leaseDurationSeconds: 180 },
  };
}

export function patch(client: ApiClient, path: string, body: unknown): Promise<ApiAnswer> {
  return client.call("PATCH", path, { contentType: mergePatch, body });
}

export function expectStatus(code: number, answer: ApiAnswer): void {
  expect(answer.status, JSON.stringify(answer.body["message"] ?? "")).to.equal(code);
}

export function expectRefused(answer: ApiAnswer, message: string): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(403);
  expect(String(answer.body["message"])).to.include(message);
}

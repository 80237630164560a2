import { join } from "node:path";
import type { JsonObject } from "../../../hack/lib/api-client.ts";
import { requestToken } from "../../../hack/lib/control-plane/identities.ts";
import { createNodeObject, type NodeRef } from "../../../hack/lib/pretend-node/object.ts";
import { root } from "../../../hack/lib/root.ts";
import type { TestCluster } from "../cluster/cluster.ts";
import { patch } from "../cluster/policy-world.ts";
import type { Asker } from "./ask.ts";
import { legacyToken } from "./legacy-token.ts";
import { matrixObjects, namespace } from "./objects.ts";

const system = "nodevolume-system";
const agentAccount = `system:serviceaccount:${system}:nodevolume-agent`;
const controllerAccount = `system:serviceaccount:${system}:nodevolume-controller`;
/** Accounts that stand for people, with the project's role of each, and one that has none. */
const accounts = { admin: "nodevolume-admin", editor: "nodevolume-editor", viewer: "nodevolume-viewer" } as const;

/** Everybody who asks, and everything that is asked for. */
export interface MatrixWorld {
  readonly askers: ReadonlyMap<string, Asker>;
  /** A token that was bound to the Node which another of that name has replaced. */
  readonly goneWithItsNode: Asker;
  remove(): Promise<void>;
}

export async function matrixWorld(cluster: TestCluster): Promise<MatrixWorld> {
  const { admin, adminKubectl } = cluster;
  const made: string[] = [];
  const make = async (path: string, body: { readonly metadata: { readonly name: string } }): Promise<JsonObject> => {
    const answer = await admin.call("POST", path, { body });
    if (answer.status !== 201 && answer.status !== 409)
      throw new Error(`${path}: ${answer.status} ${String(answer.body["message"])}`);
    if (answer.status === 201) made.push(`${path}/${body.metadata.name}`);
    return answer.body;
  };
  const accountsPath = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  for (const name of [namespace, "kube-node-lease"]) await make("/api/v1/namespaces", { metadata: { name } });
  for (const name of ["default", "stranger", "nvi-viewer", ...Object.keys(accounts)]) {
    await make(accountsPath, { metadata: { name } });
  }
  await adminKubectl.run(["apply", "-f", join(root, "config/components/nvi-viewer/role.yaml")]);
  const subject = (name: string) => `--serviceaccount=${namespace}:${name}`;
  for (const [name, role] of Object.entries({ ...accounts, "nvi-viewer": "nvi-viewer" })) {
    const create = ["create", "clusterrolebinding", `matrix-${name}`, `--clusterrole=${role}`, subject(name)];
    await adminKubectl.run(create);
  }
  const viewers = ["--role=nvi-viewer", subject("nvi-viewer"), "-n", system];
  await adminKubectl.run(["create", "rolebinding", "matrix-nvi-viewer", ...viewers]);

  // The Node as it was, with an agent each way, and then the one of today.
  const earlier = await createNodeObject(admin, "matrix-own");
  const gone = await cluster.token("nodevolume-agent", { kind: "Node", ...earlier });
  const earlierAgent = await tokenOfPod(cluster, earlier, "matrix-earlier-agent", make);
  await admin.call("DELETE", "/api/v1/nodes/matrix-own");
  const own = await createNodeObject(admin, "matrix-own");
  const other = await createNodeObject(admin, "matrix-other");
  for (const { name } of [own, other]) made.push(`/api/v1/nodes/${name}`);
  for (const [path, body] of matrixObjects({ own, other, earlier })) await make(path, body);

  const agent = await cluster.token("nodevolume-agent", { kind: "Node", ...own });
  const { adminToken, keyFile } = cluster.controlPlane.credentials;
  const secret = "matrix-legacy";
  made.push(`/api/v1/namespaces/${system}/secrets/${secret}`);
  const person = async (name: string) => ({ token: await requestToken(admin, name, undefined, namespace) });
  const askers = new Map<string, Asker>([
    ["agent", { token: agent }],
    ["agent-of-pod", { token: await tokenOfPod(cluster, own, "matrix-agent", make) }],
    ["earlier-agent", { token: earlierAgent }],
    ["unbound-agent", { token: await cluster.token("nodevolume-agent") }],
    [
      "legacy-agent",
      { token: await legacyToken(admin, keyFile, { namespace: system, account: "nodevolume-agent", secret }) },
    ],
    ["impersonated-agent", { token: adminToken, asUser: agentAccount }],
    ["agent-as-node", { token: agent, asUser: `system:node:${own.name}` }],
    ["agent-as-other-node", { token: agent, asUser: `system:node:${other.name}` }],
    ["agent-as-controller", { token: agent, asUser: controllerAccount }],
    ["controller", { token: await cluster.token("nodevolume-controller") }],
    ["admin", await person("admin")],
    ["editor", await person("editor")],
    ["viewer", await person("viewer")],
    ["nvi-viewer", await person("nvi-viewer")],
    ["stranger", await person("stranger")],
    ["nobody", {}],
  ]);
  return {
    askers,
    goneWithItsNode: { token: gone },
    async remove() {
      for (const path of made.reverse()) {
        if (/intents|nodevolumesets/.test(path)) await patch(admin, path, { metadata: { finalizers: null } });
        await admin.call("DELETE", `${path}?gracePeriodSeconds=0`);
      }
      await adminKubectl.run(["delete", "rolebinding", "matrix-nvi-viewer", "-n", system]);
      const bindings = [...Object.keys(accounts), "nvi-viewer"].map((name) => `matrix-${name}`);
      await adminKubectl.run(["delete", "clusterrolebinding", ...bindings]);
      await adminKubectl.run(["delete", "-f", join(root, "config/components/nvi-viewer/role.yaml")]);
    },
  };
}

type Make = (path: string, body: { metadata: { name: string }; spec: object }) => Promise<JsonObject>;

/** As kubelet asks for it: its Node's name and UID stand in it, too. */
async function tokenOfPod(cluster: TestCluster, node: NodeRef, name: string, make: Make): Promise<string> {
  const spec = {
    nodeName: node.name,
    serviceAccountName: "nodevolume-agent",
    automountServiceAccountToken: false,
    containers: [{ name: "agent", image: "none" }],
  };
  const pod = await make(`/api/v1/namespaces/${system}/pods`, { metadata: { name }, spec });
  const { uid } = pod["metadata"] as { uid: string };
  return cluster.token("nodevolume-agent", { kind: "Pod", name, uid });
}

import { expect } from "chai";
import { createNodeObject, type NodeRef } from "../../hack/lib/pretend-node/object.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectStatus } from "../lib/cluster/policy-world.ts";

const namespace = "node-tokens";
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const asking = "asks-for-tokens.example";
const plain = "asks-for-none.example";
const role = "node-tokens-test";
const audiences = "node-tokens-audiences";

// What decision 0041 rests on: an agent that could ask for tokens of pods as its node would get more than a driver
// needs.
describe("a token of a pod, for who asks as the pod's node", () => {
  let cluster: TestCluster;
  let own: NodeRef;
  let other: NodeRef;
  let agentToken: string;
  const uids = new Map<string, string>();

  before(async function () {
    cluster = await testCluster(this);
    const { admin, adminKubectl } = cluster;
    own = await createNodeObject(admin, "node-tokens-own");
    other = await createNodeObject(admin, "node-tokens-other");
    await adminKubectl.run(["create", "namespace", namespace]);
    await adminKubectl.run(["create", "serviceaccount", "default", "-n", namespace]);
    await driver(asking, { tokenRequests: [{ audience: "vault" }], requiresRepublish: true });
    await driver(plain, {}); // as csi.nodevolume.dev is to the API server
    await pod("ours", own.name, plain);
    await pod("asks", own.name, asking);
    await pod("there", other.name, asking);
    agentToken = await cluster.token("nodevolume-agent", { kind: "Node", ...own });
  });
  after(async () => {
    const { admin, adminKubectl } = cluster;
    await adminKubectl.run(["delete", "namespace", namespace, "--wait=false"]);
    await adminKubectl.run(["delete", "clusterrole,clusterrolebinding", role, audiences, "--ignore-not-found"]);
    await adminKubectl.run(["delete", "csidriver", asking, plain, "--ignore-not-found"]);
    for (const { name } of [own, other]) await admin.call("DELETE", `/api/v1/nodes/${name}`);
  });

  async function driver(name: string, more: object): Promise<void> {
    const spec = { attachRequired: false, volumeLifecycleModes: ["Ephemeral"], ...more };
    const path = "/apis/storage.k8s.io/v1/csidrivers";
    expectStatus(201, await cluster.admin.call("POST", path, { body: { metadata: { name }, spec } }));
  }

  async function pod(name: string, nodeName: string, of: string): Promise<void> {
    const containers = [{ name: "c", image: "none", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
    const spec = { nodeName, containers, volumes: [{ name: "data", csi: { driver: of } }] };
    const answer = await cluster.admin.call("POST", podsPath, { body: { metadata: { name }, spec } });
    expectStatus(201, answer);
    uids.set(name, (answer.body["metadata"] as { uid: string }).uid);
  }

  /** "given", or what the API server says against it. */
  async function ask(of: string, ...more: readonly string[]): Promise<string> {
    const bound = ["--bound-object-kind=Pod", `--bound-object-name=${of}`, `--bound-object-uid=${uids.get(of)}`];
    const who = [`--token=${agentToken}`, `--as=system:node:${own.name}`];
    const args = ["create", "token", "default", "-n", namespace, ...bound, ...more, ...who];
    const { code, stderr } = await cluster.adminKubectl.try(args);
    return code === 0 ? "given" : stderr.trim();
  }

  it("is not given to an agent", async () => {
    expect(await ask("ours")).to.contain("forbidden");
  });

  it("would be given to one that may create tokens as its node: for the API server, of every pod there", async () => {
    const rule = ["--verb=impersonate-on:associated-node:create", "--resource=serviceaccounts/token"];
    await cluster.adminKubectl.run(["create", "clusterrole", role, ...rule]);
    const subject = "--serviceaccount=nodevolume-system:nodevolume-agent";
    await cluster.adminKubectl.run(["create", "clusterrolebinding", role, `--clusterrole=${role}`, subject]);
    await until("the verb to count", 20_000, async () => (await ask("ours")) === "given");
    expect(await ask("asks")).to.equal("given");
    expect(await ask("there"), "of another node's pod").to.contain("orbidden");
  });

  it("is given for an audience alone that the CSIDriver of a volume of the pod names", async () => {
    expect(await ask("asks", "--audience=vault")).to.equal("given");
    expect(await ask("ours", "--audience=vault"))
      .to.contain("audience")
      .and.contain("vault");
  });

  it("is given for another audience where nodes may ask for that, whatever volumes the pod has", async () => {
    const rules = [{ apiGroups: [""], resources: ["vault"], verbs: ["request-serviceaccounts-token-audience"] }];
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const metadata = { name: audiences };
    expectStatus(201, await cluster.admin.call("POST", `${rbac}/clusterroles`, { body: { metadata, rules } }));
    const nodes = ["create", "clusterrolebinding", audiences, `--clusterrole=${audiences}`, "--group=system:nodes"];
    await cluster.adminKubectl.run(nodes);
    await until("the audience to be allowed", 20_000, async () => (await ask("ours", "--audience=vault")) === "given");
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createNodeObject, type NodeRef } from "../../hack/lib/pretend-node/object.ts";
import { until } from "../../hack/lib/until.ts";
import { readSecret } from "../../src/agent/executor/secrets.ts";
import type { VolumeError } from "../../src/errors.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/client/client.ts";
import { createRealTransport } from "../../src/kube/client/real-transport.ts";
import { createLogger } from "../../src/log.ts";
import { realSystem } from "../../src/system.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectStatus } from "../lib/cluster/policy-world.ts";

const namespace = "node-secrets";
const secretsPath = `/api/v1/namespaces/${namespace}/secrets`;
const podsPath = `/api/v1/namespaces/${namespace}/pods`;

describe("a Secret that a pod of the node refers to", () => {
  let cluster: TestCluster;
  let own: NodeRef;
  let other: NodeRef;
  let client: KubeClient;
  let directory: string;

  before(async function () {
    cluster = await testCluster(this);
    directory = mkdtempSync(join(cluster.directory, "node-secrets-"));
    own = await createNodeObject(cluster.admin, "node-secrets-own");
    other = await createNodeObject(cluster.admin, "node-secrets-other");
    await cluster.adminKubectl.run(["create", "namespace", namespace]);
    await cluster.adminKubectl.run(["create", "serviceaccount", "default", "-n", namespace]);
    for (const name of ["ours", "theirs", "nobodys"]) {
      const body = { metadata: { name }, stringData: { password: name } };
      expectStatus(201, await cluster.admin.call("POST", secretsPath, { body }));
    }
    await pod("here", own.name, "ours");
    await pod("there", other.name, "theirs");
    client = await clientOf(await cluster.token("nodevolume-agent", { kind: "Node", ...own }));
  });
  after(async () => {
    rmSync(directory, { recursive: true, force: true });
    await cluster.adminKubectl.run(["delete", "namespace", namespace, "--wait=false"]);
    for (const { name } of [own, other]) await cluster.admin.call("DELETE", `/api/v1/nodes/${name}`);
  });

  async function pod(name: string, nodeName: string, secret: string): Promise<void> {
    const csi = { driver: "csi.nodevolume.dev", nodePublishSecretRef: { name: secret } };
    const spec = {
      nodeName,
      containers: [{ name: "c", image: "none", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", csi }],
    };
    expectStatus(201, await cluster.admin.call("POST", podsPath, { body: { metadata: { name }, spec } }));
  }

  async function clientOf(token: string): Promise<KubeClient> {
    const tokenFile = join(directory, "token");
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const { server } = cluster.controlPlane;
    const access = { server, caFile: join(cluster.directory, "ca.crt"), tokenFile };
    const system = realSystem(createLogger("error", {}));
    const transport = await createRealTransport({ system, access, userAgent: "node-secrets-test" });
    return createKubeClient({ transport, fieldManager: "node-secrets-test" });
  }

  const read = (name: string, nodeName = own.name) => readSecret({ client, nodeName }, { namespace, name });
  const refused = (attempt: Promise<unknown>) =>
    attempt.then(
      () => expect.fail("it was read"),
      (error: unknown) => (error as VolumeError).reason,
    );

  it("is read as the agent's own node, without a Role of the administrator", async () => {
    // The API server learns of pods by a watch of its own.
    await until("the pod's Secret to be readable", 20_000, () => read("ours").then(Boolean, () => false));
    expect([...(await read("ours"))]).to.deep.equal([["password", "ours"]]);
  });

  it("is refused where no pod, or only one of another node refers to it", async () => {
    expect(await refused(read("nobodys"))).to.equal("SecretAccessDenied");
    expect(await refused(read("theirs"))).to.equal("SecretAccessDenied");
  });

  it("is refused to an agent that calls itself another node", async () => {
    expect(await refused(read("theirs", other.name))).to.equal("SecretAccessDenied");
  });

  it("is all that the agent may do as its node, but for reading that node", async () => {
    const asUser = `system:node:${own.name}`;
    const nodes = { group: "", version: "v1", plural: "nodes", kind: "Node" };
    const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" };
    const status = (attempt: Promise<unknown>) =>
      attempt.then(
        () => "allowed",
        (error: unknown) => (error as { status?: number }).status ?? error,
      );
    expect(await status(client.get(nodes, { name: own.name }, { asUser }))).to.equal("allowed"); // decision 0044
    expect(await status(client.get(nodes, { name: other.name }, { asUser }))).to.equal(403);
    expect(await status(client.get(pods, { namespace, name: "here" }, { asUser }))).to.equal(403);
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect } from "chai";
import { createNodeObject, type NodeRef } from "../../hack/lib/pretend-node/object.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { KubeletLife } from "../../src/agent/orphans/kubelet-life.ts";
import { podsOnNode } from "../../src/agent/orphans/node-pods.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/client/client.ts";
import { createRealTransport } from "../../src/kube/client/real-transport.ts";
import { createLogger } from "../../src/log.ts";
import { realSystem } from "../../src/system.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectStatus } from "../lib/cluster/policy-world.ts";

const namespace = "node-reads";
const role = join(root, "config/components/reap-orphans/role.yaml");
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

describe("what an agent asks before it removes what kubelet has left", () => {
  let cluster: TestCluster;
  let own: NodeRef;
  let other: NodeRef;
  let client: KubeClient;
  let directory: string;

  before(async function () {
    cluster = await testCluster(this);
    directory = mkdtempSync(join(cluster.directory, "node-reads-"));
    own = await createNodeObject(cluster.admin, "node-reads-own");
    other = await createNodeObject(cluster.admin, "node-reads-other");
    await cluster.adminKubectl.run(["create", "namespace", namespace]);
    await cluster.adminKubectl.run(["create", "serviceaccount", "default", "-n", namespace]);
    await cluster.adminKubectl.try(["create", "namespace", "kube-node-lease"]);
    for (const { name } of [own, other]) {
      const spec = { nodeName: name, containers: [{ name: "c", image: "none" }] };
      const body = { metadata: { name: `on-${name}` }, spec };
      expectStatus(201, await cluster.admin.call("POST", `/api/v1/namespaces/${namespace}/pods`, { body }));
      await renew(name, 0);
    }
    const tokenFile = join(directory, "token");
    writeFileSync(tokenFile, await cluster.token("nodevolume-agent", { kind: "Node", ...own }), { mode: 0o600 });
    const { server } = cluster.controlPlane;
    const access = { server, caFile: join(cluster.directory, "ca.crt"), tokenFile };
    const system = realSystem(createLogger("error", {}));
    const transport = await createRealTransport({ system, access, userAgent: "node-reads-test" });
    client = createKubeClient({ transport, fieldManager: "node-reads-test" });
  });
  after(async () => {
    if (cluster === undefined) return;
    rmSync(directory, { recursive: true, force: true });
    await cluster.adminKubectl.try(["delete", "-f", role]);
    await cluster.adminKubectl.run(["delete", "namespace", namespace, "--wait=false"]);
    for (const { name } of [own, other]) {
      await cluster.admin.call("DELETE", `/api/v1/nodes/${name}`);
      await cluster.admin.call("DELETE", `${leasesPath}/${name}`);
    }
  });

  async function renew(name: string, second: number): Promise<void> {
    const spec = { holderIdentity: name, renewTime: `2026-01-01T00:00:0${second}.000000Z` };
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
    await cluster.admin.call("DELETE", `${leasesPath}/${name}`);
    expectStatus(201, await cluster.admin.call("POST", leasesPath, { body }));
  }

  const status = (read: Promise<unknown>) =>
    read.then(
      () => 200,
      (error: { status?: number }) => error.status,
    );
  const clock = { now: () => 0, monotonic: () => 0 };

  it("is refused without the component, which then nothing is removed for", async () => {
    expect(await status(podsOnNode(client, own.name))).to.equal(403);
    const life = new KubeletLife({ clock, client, nodeName: own.name });
    await life.look();
    expect(life.alive).to.be.a("string").that.contains("cannot be read");
  });

  it("is answered with it, for its own node alone", async () => {
    await cluster.adminKubectl.run(["apply", "-f", role]);
    const answered = () => podsOnNode(client, own.name).then((pods) => pods.map(({ name }) => name));
    await until("the rights to count", 20_000, () => answered().then(Boolean, () => false));
    expect(await answered()).to.deep.equal([`${namespace}/on-${own.name}`]);
    expect(await status(podsOnNode(client, other.name))).to.equal(403);

    const life = new KubeletLife({ clock, client, nodeName: own.name });
    await life.look();
    await renew(own.name, 1);
    await life.look();
    expect(life.alive).to.equal(0);
    const others = new KubeletLife({ clock, client, nodeName: other.name });
    await others.look();
    expect(others.alive).to.be.a("string").that.contains("cannot be read");
  });

  it("is set up by config/components/reap-orphans, with the time", async () => {
    const at = (path: string) => relative(directory, join(root, "config", path));
    const lists = `resources: [${at("default")}]\ncomponents: [${at("components/reap-orphans")}]\n`;
    writeFileSync(join(directory, "kustomization.yaml"), `kind: Kustomization\n${lists}`);
    const rendered = await cluster.kubectl.run(["kustomize", "--load-restrictor=LoadRestrictionsNone", directory]);
    expect(rendered).to.match(/name: NODEVOLUME_REAP_ORPHANS_GRACE_PERIOD\n +value: 30m/);
    expect(rendered).to.contain("name: nodevolume-reap-orphans");
    expect(readFileSync(role, "utf8")).to.contain("impersonate-on:associated-node");
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { prepare, startCluster, type TestCluster } from "../lib/cluster/cluster.ts";
import { auditOfOurs, usageOf } from "../lib/cluster/rights-used.ts";
import { startWorld, type World } from "../lib/cluster/world.ts";

const installed = join(root, "config/default");
const crds = ["nodevolumesets", "nodevolumeintents", "nodevolumestates"].map((plural) => `${plural}.nodevolume.dev`);
const guard = ["validatingadmissionpolicy", "validatingadmissionpolicybinding"].map(
  (kind) => `${kind}/nodevolume-definitions`,
);

slowSuite("Kubernetes 1.32, the oldest that is supported", () => {
  let cluster: TestCluster;
  let world: World;
  const path = "/mnt/nodevolume/oldest";
  const volume = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };

  before(async function () {
    prepare(this);
    cluster = await startCluster({ oldest: true, audit: auditOfOurs });
    world = await startWorld(cluster);
  });
  after(() => world && stopAll(world));

  it("is what runs", async () => {
    const { body } = await cluster.admin.call("GET", "/version");
    expect(body["gitVersion"]).to.match(/^v1\.32\.\d+$/);
  });

  it("has config/default, and writes nothing when it is applied once more", async () => {
    const apply = async () => {
      const json = await cluster.adminKubectl.run(["apply", "--server-side", "-k", installed, "-o", "json"]);
      const { items } = JSON.parse(json) as { items: { metadata: { uid: string; resourceVersion: string } }[] };
      return items.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`);
    };
    const first = await apply();
    expect(first).to.have.length.above(25);
    expect(await apply()).to.deep.equal(first);
  });

  it("has a set mounted on each node", async () => {
    await world.apply("oldest", { volume, mounts: [{ name: "host", path }] });
    await world.objects.ready("oldest", 3);
    for (const node of world.nodes) expect(await node.mountsAt(path)).to.have.length(1);
  });

  it("has what is unmounted on a node mounted again", async () => {
    const [node] = world.nodes;
    await node.host.run("umount", path);
    await world.objects.until("the mount to be back", 10_000, async () => (await node.mountsAt(path)).length === 1);
    await world.objects.ready("oldest", 3);
  });

  it("refuses a wrong set as a newer one does", async () => {
    const set = {
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeSet",
      metadata: { name: "wrong" },
      spec: { volume, mounts: [{ name: "host", path: "/etc/../mnt" }] },
    };
    const { code, stderr } = await cluster.kubectl.try(["create", "-f", "-"], JSON.stringify(set));
    expect(code).to.equal(1);
    expect(stderr).to.include("spec.mounts[0].path");
  });

  it("has no MutatingAdmissionPolicy, and gives no pod a scheduling gate", async () => {
    const { body: group } = await cluster.admin.call("GET", "/apis/admissionregistration.k8s.io/v1");
    const served = (group["resources"] as { name: string }[]).map(({ name }) => name);
    expect(served).to.include("validatingadmissionpolicies").and.not.include("mutatingadmissionpolicies");
    const namespace = "gated-pods";
    await cluster.admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
    const account = { metadata: { name: "default" } };
    await cluster.admin.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { body: account });
    const csi = { driver: "csi.nodevolume.dev", volumeAttributes: { set: "oldest" } };
    const spec = { containers: [{ name: "c", image: "nothing" }], volumes: [{ name: "data", csi }] };
    const { status, body } = await cluster.admin.call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, {
      body: { metadata: { name: "a" }, spec },
    });
    expect([status, (body["spec"] as { schedulingGates?: object }).schedulingGates]).to.deep.equal([201, undefined]);
  });

  it("refuses controller and agents nothing that they ask for", () => {
    const { used, refused } = usageOf(readFileSync(join(cluster.controlPlane.directory, "audit.log"), "utf8"));
    expect([...refused]).to.deep.equal([]);
    expect([...used]).to.include("agent: watch nodevolumeintents.nodevolume.dev");
  });

  it("loses all of it as docs/tasks/uninstall.md says, and keeps no mount", async () => {
    await world.remove("oldest");
    for (const node of world.nodes) expect(await node.mountsAt(path)).to.deep.equal([]);
    await cluster.adminKubectl.run(["annotate", "crd", ...crds, "nodevolume.dev/allow-removal=true"]);
    await cluster.adminKubectl.run(["patch", ...guard, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
    await stopAll(world); // as kubelet ends the pods of what is deleted
    // Nobody is there who would end the namespace.
    await cluster.adminKubectl.run(["delete", "-k", installed, "--wait=false"]);
    for (const crd of crds)
      await until(`${crd} to be gone`, 60_000, async () => {
        const { status } = await cluster.admin.call(
          "GET",
          `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`,
        );
        return status === 404;
      });
    const left = await cluster.adminKubectl.run(["get", "validatingadmissionpolicies", "-o", "name"]);
    expect(left).not.to.include("nodevolume");
  });
});

async function stopAll(world: World): Promise<void> {
  await world.controller.stop();
  for (const { agent, proxy } of world.nodes) {
    await agent.stop();
    await proxy.stop();
  }
}

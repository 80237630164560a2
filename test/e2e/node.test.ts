// A real node: kubelet runs pods there, and our agent has its volumes beside kubelet's.
import { expect } from "chai";
import { slowInGate } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofKubelet } from "../lib/cluster/pods.ts";

describe("a node with a kubelet", () => {
  let world: KubeletWorld;

  before(async function () {
    world = await kubeletWorld(this);
  });
  after(async function () {
    await endSuite(this, world);
  });

  it("runs pods", async () => {
    const { pods, node } = world;
    await pods.create("nothing", []);
    await pods.ready(60_000, "nothing");
    expect(pods.get("nothing")?.spec.nodeName).to.equal(node.name);
    await pods.delete("nothing");
    await pods.gone(60_000, "nothing");
  });

  slowInGate("has a set's volume, made from a claim, beside a pod with a claim of kubelet's own", async function () {
    this.timeout(180_000);
    const { pods, node, objects } = world;
    await Promise.all(["ours", "theirs"].map((claim) => world.claim(claim)));
    await pods.create("beside", [ofKubelet("data", "theirs")]);
    const path = "/mnt/nodevolume/ours";
    const source = { persistentVolumeClaim: { namespace: "default", claimName: "ours" } };
    await world.apply("ours", { volume: { source }, mounts: [{ name: "host", path }] });
    await objects.ready("ours", 1, 60_000);
    await pods.ready(60_000, "beside");
    expect(await node.mountsAt(path)).to.have.lengthOf(1);
    expect(objects.intentOn("ours", node.name)?.status).to.include({ state: "Mounted", inUse: true });
    await node.host.run("sh", "-c", `echo written > ${path}/file`);

    const uid = pods.get("beside")?.metadata.uid;
    const claims = `${layout.kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi`;
    expect((await node.host.mounts()).filter((line) => line.includes(claims))).to.have.lengthOf(1);
    const before = objects.agentEpoch(node.name);
    await world.restartAgent();
    await node.restartKubelet();
    await objects.until("the new agent to have looked", 60_000, () => objects.agentEpoch(node.name) > before);
    expect(await node.mountsAt(path)).to.have.lengthOf(1);

    await pods.delete("beside");
    await world.remove("ours");
    await pods.gone(60_000, "beside");
    expect(await node.mountsAt(path)).to.deep.equal([]);
    expect([...pods.failures]).to.deep.equal([]);
    await world.unclaim("ours", "theirs");
  });
});

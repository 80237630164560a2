// Volumes that kubelet manages, as the node's own table and the API show them.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofKubelet } from "../lib/cluster/pods.ts";

slowSuite("a claim of kubelet's own", () => {
  let world: KubeletWorld;

  before(async function () {
    world = await kubeletWorld(this);
  });
  after(async function () {
    await endSuite(this, world);
  });

  it("is shown as kubelet has it mounted, drifts when somebody unmounts it, and goes with its pod", async function () {
    this.timeout(240_000);
    const { pods, node, objects } = world;
    await world.claim("seen");
    const observed = () =>
      [...objects.intents.values()].find(({ spec }) => {
        return spec.observed !== undefined && spec.source.persistentVolumeClaim?.claimName === "seen";
      });
    const reason = () => observed()?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
    await pods.create("watched", [ofKubelet("data", "seen")]);
    await objects.until("kubelet to have it", 90_000, () => reason() === "Observing");
    await pods.ready(60_000, "watched");

    const uid = pods.get("watched")?.metadata.uid;
    const intent = observed();
    const path = `${layout.kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/${intent?.spec.observed?.volumeName}/mount`;
    const [line, ...others] = await node.mountsAt(path);
    expect(others).to.deep.equal([]);
    expect(intent?.spec.pods).to.deep.equal([
      { uid, namespace: "default", name: "watched", volume: "data", readOnly: false },
    ]);
    expect(intent?.status?.pods?.map(({ state }) => state)).to.deep.equal(["Mounted"]);
    expect(intent?.status).to.include({ inUse: true, desiredMounts: 1, readyMounts: 1, state: "Observed" });
    expect(line, "a mount of the node").not.to.equal(undefined);
    expect(intent?.status?.attach?.volumeAttachment).to.match(/^csi-/);

    await node.host.run("umount", path);
    await objects.until("the drift", 60_000, () => observed()?.status?.drift?.class === "Missing");
    expect(observed()?.status?.drift?.message).to.contain("default/watched");

    await pods.delete("watched");
    await pods.gone(90_000, "watched");
    await objects.until("its intent to be gone", 30_000, () => observed() === undefined);
    await world.unclaim("seen");
  });
});

// The way a claim goes without our product: provisioner, binder, attacher, resizer, and back. What the other tests of
// this lane build on.
import { expect } from "chai";
import { loopXfs, loopXfsName, type RunningDriver } from "../../hack/lib/csi/driver.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { readRecord } from "../drivers/lib/record.ts";
import { testCluster } from "../lib/cluster/cluster.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";
import { type CSITestNode, CSIWorld } from "../lib/csi/csi-world.ts";

const volumes = "/api/v1/persistentvolumes";
const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";

slowSuite("loop-xfs with sidecars and kube-controller-manager, without us", () => {
  let world: CSIWorld;
  let node: CSITestNode;
  let driver: RunningDriver;

  before(async function () {
    const xfsprogs = await needXfsprogs(this);
    world = await CSIWorld.start(await testCluster(this));
    node = await world.addNode("provisioning");
    driver = await node.startDriver(loopXfs("id-of-provisioning", { storage: world.storage, xfsprogs }));
    for (const sidecar of ["csi-provisioner", "csi-attacher", "csi-resizer"] as const) {
      await world.startSidecar(sidecar, driver);
    }
    await world.startControllerManager();
    await world.objects.csiDriver(loopXfsName);
    await world.objects.storageClass("loop-xfs", loopXfsName);
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  const handleOf = (volume: { [key: string]: unknown }) =>
    (volume["spec"] as { csi: { volumeHandle: string } }).csi.volumeHandle;

  it("a kubelet's part is done: CSINode and the Node's annotation name the driver's node id", async () => {
    const csiNode = await world.objects.get("/apis/storage.k8s.io/v1/csinodes/provisioning");
    expect(csiNode).to.have.nested.property("spec.drivers[0].name", loopXfsName);
    expect(csiNode).to.have.nested.property("spec.drivers[0].nodeID", "id-of-provisioning");
    const { metadata } = (await world.objects.get("/api/v1/nodes/provisioning")) as {
      metadata: { annotations: object };
    };
    const ids = JSON.stringify({ [loopXfsName]: "id-of-provisioning" });
    expect(metadata.annotations).to.include({ "csi.volume.kubernetes.io/nodeid": ids });
  });

  for (const volumeMode of ["Filesystem", "Block"] as const) {
    it(`a claim is provisioned, attached, grown and given back: ${volumeMode}`, async () => {
      const name = `data-${volumeMode.toLowerCase()}`;
      await world.objects.claim(name, { storageClass: "loop-xfs", volumeMode });
      const volume = await world.objects.bound(name);
      const handle = handleOf(volume);

      await world.objects.attach(`by-hand-${name}`, loopXfsName, volume.metadata.name, "provisioning");
      const status = await world.objects.attached(`by-hand-${name}`);
      expect(status["attachmentMetadata"]).to.have.property("nodevolume.test/attachment");

      await world.objects.patch(`${claims}/${name}`, { spec: { resources: { requests: { storage: "40Mi" } } } });
      await until("the resizer to grow the volume", 30_000, async () => {
        const { spec } = (await world.objects.get(`${volumes}/${volume.metadata.name}`)) as {
          spec: { capacity: { storage: string } };
        };
        return spec.capacity.storage === "40Mi";
      });

      await world.objects.remove(`${attachments}/by-hand-${name}`);
      await world.objects.remove(`${claims}/${name}`);
      await until("the provisioner to delete the volume", 30_000, async () => {
        return (await world.objects.get(`${volumes}/${volume.metadata.name}`)) === undefined;
      });
      const effects = readRecord(world.storage.record).filter((line) => line.kind === "end" && line.volume === handle);
      expect(effects.map(({ what }) => what)).to.deep.equal(["created", "attached", "enlarged", "detached", "deleted"]);
      expect(effects.at(3)?.detail).to.include({ node: "id-of-provisioning", inUse: false });
    });
  }
});

// The least that attaching needs: a driver, its attacher, a PV and a VolumeAttachment, all by hand.
import { expect } from "chai";
import { loopXfs, loopXfsName, type RunningDriver } from "../../hack/lib/csi/driver.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { until } from "../../hack/lib/until.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { testCluster } from "../lib/cluster/cluster.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";
import { type CSITestNode, CSIWorld } from "../lib/csi/csi-world.ts";

const attachments = "/apis/storage.k8s.io/v1/volumeattachments";

describe("loop-xfs with its attacher alone, on two nodes", () => {
  let world: CSIWorld;
  let nodes: CSITestNode[];
  let driver: RunningDriver;
  let handle: string;
  let attacher: RunningProcess;

  before(async function () {
    const xfsprogs = await needXfsprogs(this);
    world = await CSIWorld.start(await testCluster(this));
    nodes = [await world.addNode("attaching-1"), await world.addNode("attaching-2")];
    const drivers = [];
    for (const { name, startDriver } of nodes) {
      drivers.push(await startDriver(loopXfs(`id-of-${name}`, { storage: world.storage, xfsprogs })));
    }
    driver = drivers[0] as RunningDriver;
    attacher = await world.startSidecar("csi-attacher", driver);
    await world.objects.csiDriver(loopXfsName);
    handle = await makeVolume(driver, "static");
    await world.objects.volume("static", loopXfsName, handle);
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
  });
  afterEach(() => orderFaults(world.storage.control, []));

  it("a VolumeAttachment by hand is attached, with the driver's publish context", async () => {
    await world.objects.attach("by-hand", loopXfsName, "static", "attaching-1");
    const status = await world.objects.attached("by-hand");
    expect(status["attachmentMetadata"]).to.have.property("nodevolume.test/attachment");
  });

  it("a second one, of another node, is refused by the driver, and attached when the first is gone", async () => {
    await world.objects.attach("second", loopXfsName, "static", "attaching-2");
    await until("the driver's refusal in its status", 30_000, async () => {
      const found = (await world.objects.get(`${attachments}/second`)) as {
        status?: { attachError?: { message: string } };
      };
      return found.status?.attachError?.message.includes("is published to id-of-attaching-1") === true;
    });
    await world.objects.remove(`${attachments}/by-hand`);
    await world.objects.attached("second");
  });

  it("the attacher is there again when its driver was killed, with which it ends", async () => {
    const before = attacher.pid;
    driver.process.kill("SIGKILL");
    await driver.restart();
    await world.objects.volume("another", loopXfsName, await makeVolume(driver, "another"));
    await world.objects.attach("another", loopXfsName, "another", "attaching-1");
    await world.objects.attached("another");
    expect(attacher.pid).not.to.equal(before);
    await world.objects.remove(`${attachments}/another`);
  });

  it("a failing detach keeps it, until the driver can", async () => {
    const fault = { kind: "code", when: "before", code: "INTERNAL" } as const;
    orderFaults(world.storage.control, [{ id: "1", rpc: "ControllerUnpublishVolume", times: 2, fault }]);
    await world.objects.remove(`${attachments}/second`);
    using csi = csiCalls(driver.outside);
    const { status } = await csi.call<{ status: { publishedNodeIds: string[] } }>("controllerGetVolume", {
      volumeId: handle,
    });
    expect(status.publishedNodeIds).to.deep.equal([]);
  });
});

async function makeVolume(driver: RunningDriver, name: string): Promise<string> {
  using csi = csiCalls(driver.outside);
  const request = { name, volumeCapabilities: [mountable()] };
  const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
  return volume.volumeId;
}

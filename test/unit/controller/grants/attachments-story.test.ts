import { expect } from "chai";
import type { Controller } from "../../../../src/controller/start.ts";
import { addNodes, type CSIFleet, createCSIFleet } from "../attach/csi-fleet.ts";

const ebs = "ebs.csi.aws.com";

/** A set of a local disk on n0, whose agent has asked; another node has an attachment, too. */
async function fleetThatAsks(fleet = createCSIFleet()): Promise<CSIFleet & { first: Controller }> {
  addNodes(fleet, { n0: "a", n1: "b" });
  fleet.attacher.paused.add("attach"); // these are of another one
  fleet.csiSet("a", { local: { path: "/dev/sdb" } }, { nodeSelector: { role: "a" } });
  const claimRef = { namespace: "db", name: "data", uid: "u" };
  const csi = { driver: ebs, volumeHandle: "vol-0a1b" };
  fleet.api.apply("persistentvolumes", { metadata: { name: "pvc-7" }, spec: { csi, claimRef } });
  attach(fleet, "csi-1", "n0", "pvc-7");
  attach(fleet, "csi-2", "n1", "pvc-8");
  const first = fleet.start();
  await fleet.live(2_000);
  expect(fleet.intent("n0").spec.grant?.attachments, "nobody has asked").to.equal(undefined);
  asks(fleet, "1-1");
  await fleet.live(2_000);
  return { ...fleet, first };
}

function attach(fleet: CSIFleet, name: string, nodeName: string, persistentVolumeName: string): void {
  const hidden = { chapAuthSecretName: "canary", username: "canary", tenantId: "canary", clusterid: "canary" };
  const attachmentMetadata = { devicePath: "/dev/xvdba", ...hidden };
  const spec = { attacher: ebs, nodeName, source: { persistentVolumeName } };
  fleet.api.apply("volumeattachments", { metadata: { name }, spec, status: { attachmentMetadata } });
}

function asks(fleet: CSIFleet, attachmentsRequest: string | null): void {
  fleet.api.patch("nodevolumeintents", fleet.intent("n0").metadata.name, { status: { attachmentsRequest } }, "status");
}

const answer = (fleet: CSIFleet) => fleet.intent("n0").spec.grant?.attachments;

describe("an agent that asks which volumes are attached to its node", () => {
  const volume = {
    volumeAttachment: "csi-1",
    driver: ebs,
    volumeHandle: "vol-0a1b",
    persistentVolume: "pvc-7",
    claim: "db/data",
    names: ["/dev/xvdba"],
  };

  it("is told those of its node, attached or not yet, by what their devices are called, and no secret", async () => {
    expect(answer(await fleetThatAsks())).to.deep.equal({ request: "1-1", volumes: [volume] });
  });

  it("is told of what goes and comes as long as it asks, and nothing any more after that", async () => {
    const fleet = await fleetThatAsks();
    attach(fleet, "csi-3", "n0", "pvc-gone");
    await fleet.live(35_000, 1_000);
    const names = ["/dev/xvdba"];
    const gone = { volumeAttachment: "csi-3", driver: ebs, persistentVolume: "pvc-gone", names };
    expect(answer(fleet)?.volumes).to.deep.equal([volume, gone]);
    fleet.api.remove("volumeattachments", "csi-1");
    fleet.api.remove("volumeattachments", "csi-3");
    await fleet.live(35_000, 1_000);
    expect(answer(fleet)).to.deep.equal({ request: "1-1", volumes: [] });
    asks(fleet, null);
    attach(fleet, "csi-4", "n0", "pvc-7");
    await fleet.live(65_000, 1_000);
    expect(answer(fleet)?.volumes).to.deep.equal([]);
    asks(fleet, "1-2");
    await fleet.live(1_000);
    expect(answer(fleet)).to.deep.equal({ request: "1-2", volumes: [{ ...volume, volumeAttachment: "csi-4" }] });
  });

  it("is told by the next leader, too, that what kept its disk is gone", async () => {
    const fleet = await fleetThatAsks();
    const stopped = fleet.first.stop();
    await fleet.live(1_000);
    await stopped;
    fleet.start("c2");
    await fleet.live(30_000, 1_000);
    fleet.api.remove("volumeattachments", "csi-1");
    await fleet.live(35_000, 1_000);
    expect(answer(fleet)).to.deep.equal({ request: "1-1", volumes: [] });
  });

  it("is told nothing where more are attached than fit, and no PersistentVolume is read for that", async () => {
    const fleet = createCSIFleet();
    for (let n = 0; n < 256; n += 1) attach(fleet, `more-${n}`, "n0", `pv-more-${n}`);
    const { request } = fleet.api;
    let reads = 0;
    fleet.api.request = (sent) => {
      if (sent.query?.["fieldSelector"]?.startsWith("metadata.name=pv-more-")) reads += 1;
      return request(sent);
    };
    await fleetThatAsks(fleet);
    expect([answer(fleet), reads]).to.deep.equal([undefined, 0]);
  });
});

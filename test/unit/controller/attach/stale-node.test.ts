import { expect } from "chai";
import type { CSIFleet } from "./csi-fleet.ts";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const source = { csi: { driver, volumeHandle: "vol-1" } };
const attachmentOf = (fleet: CSIFleet, node: string) =>
  fleet.attachments().find(({ spec }) => (spec as { nodeName?: string }).nodeName === node);

describe("a machine that may be another one than the volume was attached to", () => {
  it("is not detached from", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(2_000);
    const name = attachmentOf(fleet, "n0")?.metadata.name ?? "";
    const annotations = { "csi.alpha.kubernetes.io/node-id": "old-machine" };
    fleet.api.patch("volumeattachments", name, { metadata: { annotations } });
    await fleet.live(1_000);
    expect(fleet.waitReason("n0")).to.equal("StaleNodeID n0");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(30_000);
    expect(attachmentOf(fleet, "n0")?.metadata.deletionTimestamp).to.equal(undefined);
    expect(fleet.intents()).to.have.length(1);
    fleet.api.remove("volumeattachments", name);
    await fleet.live(3_000);
    expect(fleet.intents()).to.deep.equal([]);
  });

  for (const granted of [true, false]) {
    for (const how of ["intent", "volumeattachment", "taint"] as const) {
      it(`is detached from once somebody says by ${how} that it is off${granted ? "" : ", though nobody had the volume"}`, async () => {
        const fleet = createCSIFleet();
        fleet.driverNode("n0");
        if (!granted) fleet.attacher.paused.add("attach");
        fleet.csiSet("a", source);
        fleet.start();
        await fleet.live(2_000);
        const name = attachmentOf(fleet, "n0")?.metadata.name ?? "";
        const annotations = { "csi.alpha.kubernetes.io/node-id": "old-machine" };
        fleet.api.patch("volumeattachments", name, { metadata: { annotations } });
        fleet.api.remove("nodevolumesets", "a");
        await fleet.live(30_000);
        expect(fleet.intent("n0").spec.grant !== undefined).to.equal(granted);
        expect(fleet.waitReason("n0")).to.equal("StaleNodeID n0");
        const intent = fleet.intent("n0").metadata.name;
        const said = fleet.intent("n0").status.attach?.message;
        expect(said).to.include(`kubectl annotate nvi ${intent} nodevolume.dev/release='who, why'`);
        const word = { metadata: { annotations: { "nodevolume.dev/release": "me: it is off" } } };
        if (how === "intent") fleet.api.patch("nodevolumeintents", intent, word);
        else if (how === "volumeattachment") fleet.api.patch("volumeattachments", name, word);
        else fleet.node("n0", { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] });
        await fleet.live(3_000);
        expect([fleet.intents(), fleet.attachments()]).to.deep.equal([[], []]);
      });
    }
  }
});

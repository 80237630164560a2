import { expect } from "chai";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const volume = (handle: string) => ({ csi: { driver, volumeHandle: handle } });

describe("as many volumes as a node takes", () => {
  it("attaches no more volumes of a driver to a node than it takes, also of many that come at once", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0", 3);
    for (let i = 0; i < 6; i += 1) {
      fleet.csiSet(`s${i}`, volume(`vol-${i}`), { mounts: [{ name: "host", path: `/mnt/nodevolume/s${i}` }] });
    }
    fleet.start();
    await fleet.live(3_000);
    expect(fleet.attachments()).to.have.length(3);
    expect(fleet.granted()).to.have.length(3);
    fleet.api.remove("nodevolumesets", "s0");
    fleet.api.remove("nodevolumesets", "s1");
    fleet.api.remove("nodevolumesets", "s2");
    await fleet.live(3_000);
    expect(fleet.granted()).to.have.length(3);
  });

  it("also of many that find room at the same moment", async () => {
    const fleet = createCSIFleet();
    fleet.node("n0");
    fleet.mute.add("n0");
    for (let i = 0; i < 6; i += 1) {
      fleet.csiSet(`s${i}`, volume(`vol-${i}`), { mounts: [{ name: "host", path: `/mnt/nodevolume/s${i}` }] });
    }
    fleet.start();
    await fleet.live(3_000);
    fleet.driverNode("n0", 3);
    await fleet.live(3_000);
    expect(
      fleet.api.writes.filter(({ verb, plural }) => verb === "create" && plural === "volumeattachments"),
    ).to.have.length(3);
    expect(fleet.granted()).to.have.length(3);
  });

  it("waits where the driver has no room, with the node's count and limit, and is attached when there is room", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0", 5);
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.granted()).to.have.length(1);
    Object.assign(fleet.attacher, { error: "all 1 slots are taken", errorCode: 8 });
    fleet.csiSet("b", volume("vol-2"), { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] });
    await fleet.live(2_000);
    const waits = () => fleet.intents().find(({ spec }) => spec.grant === undefined);
    const { attach } = waits()?.status ?? {};
    expect(attach).to.deep.include({ reason: "AttachLimitReached" });
    expect(attach?.on?.kind).to.equal("VolumeAttachment");
    const text =
      /^driver disk\.example has no room .* node n0 has 2 VolumeAttachments of the driver, this one among them, and its CSINode allows 5; .*another one is detached there.* Its message: all 1 slots are taken$/;
    expect(attach?.message).to.match(text);
    const failures = () =>
      fleet.api.objects("events").filter((one) => JSON.stringify(one).includes("FailedAttachVolume"));
    expect(failures().map((one) => (one as { count?: number }).count)).to.deep.equal([1]);
    expect(
      fleet.api.writes.filter(({ plural }) => plural === "csinodes"),
      "CSINode is kubelet's",
    ).to.deep.equal([]);
    Object.assign(fleet.attacher, { error: "", errorCode: undefined });
    await fleet.live(2_000);
    expect([waits(), fleet.granted()]).to.deep.equal([undefined, ["n0", "n0"]]);
  });
});

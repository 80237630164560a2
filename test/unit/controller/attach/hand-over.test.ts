import { expect } from "chai";
import { createCSIFleet, driver } from "./csi-fleet.ts";

describe("a single-node volume that many nodes wait for", () => {
  it("is handed over, and each of them is told once", async () => {
    const nodes = 50;
    const fleet = createCSIFleet();
    for (let i = 0; i < nodes; i += 1) fleet.driverNode(`n${i}`);
    fleet.csiSet("a", { csi: { driver, volumeHandle: "vol-1" } });
    fleet.start();
    await fleet.live(10_000);
    const [first = ""] = fleet.granted();
    const before = fleet.api.writes.length;
    fleet.node(first, { taints: [{ key: "k", effect: "NoExecute" }] });
    await fleet.live(6_000);
    expect(fleet.granted()).to.have.length(1).and.not.to.include(first);
    const [next = ""] = fleet.granted();
    const told = fleet.api.writes
      .slice(before)
      .filter(({ plural, body }) => plural === "nodevolumeintents" && JSON.stringify(body).includes('"attach"'));
    expect(told.length).to.be.within(nodes - 2, nodes);
    for (const { spec, status } of fleet.intents()) {
      if (spec.nodeName !== next) expect(status.attach?.on?.node).to.equal(next);
    }
  }).timeout(30_000);

  it("begins for whose turn it is before the others are told anything, though they are older", async () => {
    const fleet = createCSIFleet();
    for (let i = 10; i < 50; i += 1) {
      fleet.node(`n${i}`);
      fleet.mute.add(`n${i}`);
    }
    fleet.driverNode("n99");
    const tokenRequests = [{ audience: "a" }];
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { tokenRequests } });
    fleet.csiSet("a", { csi: { driver, volumeHandle: "vol-1" } });
    fleet.start();
    await fleet.live(5_000);
    for (const { status } of fleet.intents()) expect(status.attach?.reason).to.equal("PerPodIdentity");
    const before = fleet.api.writes.length;
    // One look at once: forty have another reason, and the youngest, by its name, has its turn.
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: {} });
    await fleet.live(2_000);
    const writes = fleet.api.writes.slice(before).filter(({ plural }) => plural !== "leases" && plural !== "events");
    expect(writes[0]).to.deep.include({ verb: "create", plural: "volumeattachments" });
    expect(fleet.granted()).to.deep.equal(["n99"]);
    const words = fleet.intents().filter(({ status }) => status.attach?.reason === "DriverNotOnNode");
    expect(words).to.have.length(40);
  });
});

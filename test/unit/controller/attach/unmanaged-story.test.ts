import { expect } from "chai";
import type { CSIFleet } from "./csi-fleet.ts";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const managed = "volumes.kubernetes.io/controller-managed-attach-detach";

function ready(): CSIFleet {
  const fleet = createCSIFleet();
  for (const name of ["n0", "n1"]) fleet.driverNode(name);
  fleet.csiSet("a", { csi: { driver, volumeHandle: "vol", accessMode: "ReadWriteMany" } });
  return fleet;
}

const annotate = (fleet: CSIFleet, value: string | null) =>
  fleet.api.patch("nodes", "n0", { metadata: { annotations: { [managed]: value } } });

describe("a Node to which no controller attaches", () => {
  it("is one that says so: nothing is attached to it, and the word goes with the annotation", async () => {
    const fleet = ready();
    annotate(fleet, "false");
    fleet.start();
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
    expect(fleet.attachments()).to.have.length(1);
    const { attach } = fleet.intents().find(({ spec }) => spec.nodeName === "n0")?.status ?? {};
    expect(attach).to.deep.include({ reason: "AttachNotManaged", on: { kind: "Node", name: "n0" } });
    expect(attach?.message).to.include(`${managed} is "false"`);
    annotate(fleet, null);
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n0", "n1"]);
  });

  it("keeps what it has, and gives it back", async () => {
    const fleet = ready();
    fleet.start();
    await fleet.live(5_000);
    annotate(fleet, "false");
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n0", "n1"]);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(5_000);
    expect(fleet.attachments()).to.deep.equal([]);
    expect(fleet.intents()).to.deep.equal([]);
  });

  it("is none of which kubelet says that it is managed, or of which nobody says anything", async () => {
    const fleet = ready();
    annotate(fleet, "true");
    fleet.start();
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n0", "n1"]);
  });

  it("has volumes of drivers that attach nothing", async () => {
    const fleet = ready();
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { attachRequired: false } });
    annotate(fleet, "false");
    fleet.start();
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n0", "n1"]);
    expect(fleet.attachments()).to.deep.equal([]);
  });
});

import { expect } from "chai";
import { applyPolicies, shipped } from "../../shipped-policies.ts";
import { type CSIFleet, createCSIFleet, driver } from "./csi-fleet.ts";

const bindings = "validatingadmissionpolicybindings";
const volume = { csi: { driver, volumeHandle: "vol-1" } };

/** A controller that looks at the policies, and a set of which one node has the volume attached. */
async function story(prepare: (fleet: CSIFleet) => void = () => {}, source: object = volume, indexed = false) {
  const fleet = createCSIFleet();
  applyPolicies(fleet.api);
  fleet.driverNode("n0");
  prepare(fleet);
  fleet.csiSet("a", source);
  fleet.start("c0", "None", indexed, true);
  await fleet.live(15_000, 250);
  expect(fleet.attachments()).to.have.length(1);
  const away = () => fleet.api.remove(bindings, "nodevolume-agents");
  const back = () =>
    fleet.api.apply(bindings, shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never);
  return { fleet, away, back };
}

describe("the controller, volumes that are attached, and the policy of the agents", () => {
  it("detaches nothing on an agent's word while it is missing, and everything in the end", async () => {
    const { fleet, away, back } = await story();
    away();
    await fleet.live(3_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(60_000, 500);
    expect(fleet.intent("n0").status.state).to.equal("Released");
    expect(fleet.attachments()[0]?.metadata.deletionTimestamp).to.equal(undefined);
    back();
    await fleet.live(300_000, 1_000);
    expect([fleet.attachments(), fleet.intents()]).to.deep.equal([[], []]);
  });

  it("goes on with what no agent was ever given: that it is not used rests on nobody's word", async () => {
    const { fleet, away } = await story((one) => one.attacher.paused.add("attach"));
    expect(fleet.granted()).to.deep.equal([]);
    away();
    await fleet.live(3_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(60_000, 500);
    expect([fleet.attachments(), fleet.intents()]).to.deep.equal([[], []]);
  });

  it("tells a claim that its volume has grown when agents are believed again", async () => {
    const claim = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
    const { fleet, away, back } = await story((one) => one.claim("data", "vol-1"), claim);
    const { name } = fleet.intent("n0").metadata;
    const size = () => fleet.api.object("persistentvolumeclaims", "apps/data")?.status;
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    away();
    await fleet.live(3_000);
    fleet.api.patch("nodevolumeintents", name, { status: { capacityBytes: String(2 ** 31) } }, "status");
    await fleet.live(60_000, 500);
    expect(size()).to.have.deep.property("capacity", { storage: "1Gi" });
    back();
    await fleet.live(60_000, 500);
    expect(size()).to.have.deep.property("capacity", { storage: "1Gi" });
    // Until its agent has renewed its Lease late enough, and that is looked at.
    await fleet.live(240_000, 1_000);
    expect(size()).to.have.deep.property("capacity", { storage: "2Gi" });
  });

  it("tells no claim on the word of a node whose agent was not heard since, until it is", async () => {
    const claim = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
    const { fleet, away, back } = await story((one) => one.claim("data", "vol-1"), claim);
    const { name } = fleet.intent("n0").metadata;
    const size = () => fleet.api.object("persistentvolumeclaims", "apps/data")?.status;
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    fleet.agents.delete("n0");
    away();
    await fleet.live(3_000);
    fleet.api.patch("nodevolumeintents", name, { status: { capacityBytes: String(2 ** 31) } }, "status");
    back();
    await fleet.live(600_000, 1_000);
    expect(size()).to.have.deep.property("capacity", { storage: "1Gi" });
    fleet.agents.add("n0");
    await fleet.live(70_000, 500);
    expect(size()).to.have.deep.property("capacity", { storage: "2Gi" });
  });

  it("gives no disk by a name that others may have written, and gives the right one in the end", async () => {
    const fleet = createCSIFleet();
    applyPolicies(fleet.api);
    fleet.driverNode("n0");
    fleet.csiSet("a", { iscsi: { targetPortal: "san", iqn: "iqn.2026-01.example:one", lun: 1 } });
    fleet.start("c0", "None", false, true);
    await fleet.live(15_000, 250);
    const { name } = fleet.intent("n0").metadata;
    const finds = (disk: string) => fleet.api.patch("nodevolumeintents", name, { status: { disk } }, "status");
    fleet.api.remove(bindings, "nodevolume-agents");
    await fleet.live(3_000);
    finds("36001405abc0000000000000000000666");
    await fleet.live(60_000, 500);
    expect(fleet.intent("n0").spec.grant?.disk).to.equal("");
    fleet.api.apply(bindings, shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never);
    await fleet.live(60_000, 500);
    expect(fleet.intent("n0").spec.grant?.disk).to.equal("");
    finds("36001405abc0000000000000000000001");
    await fleet.live(240_000, 1_000);
    expect(fleet.intent("n0").spec.grant?.disk).to.equal("36001405abc0000000000000000000001");
  });

  it("waits for as long as agents need that go by an index", async () => {
    const { fleet, away, back } = await story(undefined, volume, true);
    away();
    await fleet.live(3_000);
    back();
    await fleet.live(3_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(590_000, 1_000);
    expect(fleet.attachments()[0]?.metadata.deletionTimestamp).to.equal(undefined);
    await fleet.live(120_000, 1_000);
    expect([fleet.attachments(), fleet.intents()]).to.deep.equal([[], []]);
  });

  it("detaches on the word of people meanwhile", async () => {
    const { fleet, away } = await story((one) => one.stubborn.add("n0"));
    away();
    await fleet.live(3_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    const { name } = fleet.intent("n0").metadata;
    fleet.api.patch("nodevolumeintents", name, {
      metadata: { annotations: { "nodevolume.dev/release": "anna: off" } },
    });
    await fleet.live(5_000);
    expect([fleet.attachments(), fleet.intents()]).to.deep.equal([[], []]);
  });
});

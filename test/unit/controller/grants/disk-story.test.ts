import { expect } from "chai";
import { addNodes, type CSIFleet, createCSIFleet } from "../attach/csi-fleet.ts";

const lun = (more: object = {}) => ({
  iscsi: { targetPortal: "san-1", iqn: "iqn.2026-01.example:disk", lun: 3, ...more },
});
const at = (role: string) => ({ nodeSelector: { role } });
const otherMount = { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] };

/** Nodes n0 and n1 of the roles a and b, and a set of the disk on those of role a. */
async function fleetWithDisk(source: object = lun()): Promise<CSIFleet> {
  const fleet = createCSIFleet();
  addNodes(fleet, { n0: "a", n1: "b" });
  fleet.csiSet("a", source, at("a"));
  fleet.start();
  await fleet.live(2_000);
  expect(fleet.granted()).to.deep.equal(["n0"]);
  return fleet;
}

function move(fleet: CSIFleet): void {
  fleet.node("n0", { labels: { role: "b" } });
  fleet.node("n1", { labels: { role: "a" } });
}

describe("a disk that several nodes can reach", () => {
  it("is granted by its source alone, with nothing that is a CSI driver's", async () => {
    const fleet = await fleetWithDisk();
    const { id, ...rest } = fleet.intent("n0").spec.grant ?? {};
    expect(id).to.be.a("string");
    expect(rest, "and no disk before its agent has found one").to.deep.equal({ disk: "" });
    expect(fleet.attachments()).to.deep.equal([]);
  });

  it("goes to the node that a label was moved to only when the other has acknowledged", async () => {
    const fleet = await fleetWithDisk();
    fleet.stubborn.add("n0");
    move(fleet);
    await fleet.live(600_000, 1_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n1")).to.equal("VolumeHeldElsewhere n0");
    const { attach } = fleet.intent("n1").status;
    expect(attach?.message).to.match(/^node n0 has the volume \(disk-3\) since 20/);
    expect(attach?.since).to.be.a("string");
    fleet.stubborn.clear();
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
    expect(fleet.intent("n1").status.attach).to.equal(undefined);
  });

  it("nor after the controller has been exchanged for another", async () => {
    const fleet = createCSIFleet();
    addNodes(fleet, { n0: "a", n1: "b" });
    fleet.csiSet("a", lun(), at("a"));
    const first = fleet.start();
    await fleet.live(2_000);
    fleet.stubborn.add("n0");
    move(fleet);
    const stopped = first.stop();
    fleet.start("c2");
    await fleet.live(120_000, 1_000);
    await stopped;
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n1")).to.equal("VolumeHeldElsewhere n0");
    fleet.stubborn.clear();
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
  });

  it("stays with a node whose Node object is gone, until an administrator speaks for the machine", async () => {
    const fleet = await fleetWithDisk();
    fleet.stubborn.add("n0");
    fleet.agents.delete("n0");
    fleet.api.remove("nodes", "n0");
    fleet.node("n1", { labels: { role: "a" } });
    await fleet.live(600_000, 1_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n1")).to.equal("VolumeHeldElsewhere n0");
    const annotations = { "nodevolume.dev/release": "me: it is switched off" };
    fleet.api.patch("nodevolumeintents", fleet.intent("n0").metadata.name, { metadata: { annotations } });
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
  });

  it("goes on from a node that is out of service", async () => {
    const fleet = await fleetWithDisk();
    fleet.stubborn.add("n0");
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" as const }];
    fleet.node("n0", { labels: { role: "b" }, taints });
    fleet.node("n1", { labels: { role: "a" } });
    await fleet.live(5_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
  });

  it("stays where its set was deleted until the node has acknowledged, whoever else wants it", async () => {
    const fleet = await fleetWithDisk();
    fleet.stubborn.add("n0");
    fleet.api.remove("nodevolumesets", "a");
    fleet.csiSet("b", lun(), { ...at("b"), ...otherMount });
    await fleet.live(60_000, 1_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.stubborn.clear();
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
  });

  for (const [what, more] of [
    ["another portal", { targetPortal: "san-2:3261", portals: ["san-3"] }],
    ["another file system", { fsType: "xfs" }],
    ["the name in other letters", { iqn: "iqn.2026-01.example:DISK" }],
    ["reading alone", { readOnly: true }],
  ] as const) {
    it(`is one disk to two sets, also by ${what}`, async () => {
      const fleet = await fleetWithDisk();
      fleet.csiSet("b", lun(more), { ...at("b"), ...otherMount });
      await fleet.live(2_000);
      expect(fleet.granted()).to.deep.equal(["n0"]);
      expect(fleet.waitReason("n1")).to.equal("VolumeHeldElsewhere n0");
      fleet.api.remove("nodevolumesets", "a");
      await fleet.live(3_000);
      expect(fleet.granted()).to.deep.equal(["n1"]);
    });
  }

  it("is another disk with another LUN", async () => {
    const fleet = await fleetWithDisk();
    fleet.csiSet("b", lun({ lun: 4 }), { ...at("b"), ...otherMount });
    await fleet.live(2_000);
    expect(fleet.granted().sort()).to.deep.equal(["n0", "n1"]);
  });

  it("is read on every node at once, and then written by none", async () => {
    const fleet = await fleetWithDisk(lun({ readOnly: true }));
    fleet.node("n1", { labels: { role: "a" } });
    await fleet.live(2_000);
    expect(fleet.granted().sort()).to.deep.equal(["n0", "n1"]);
    addNodes(fleet, { n2: "c" });
    fleet.csiSet("b", lun(), { ...at("c"), ...otherMount });
    await fleet.live(2_000);
    expect(fleet.waitReason("n2")).to.match(/^VolumeHeldElsewhere n[01]$/);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n2"]);
  });

  it("is written once those who read it have gone, though others come to read it meanwhile", async () => {
    const fleet = await fleetWithDisk(lun({ readOnly: true }));
    addNodes(fleet, { n2: "c", n3: "d" });
    fleet.csiSet("writer", lun(), { ...at("c"), ...otherMount });
    await fleet.live(2_000);
    expect(fleet.waitReason("n2")).to.equal("VolumeHeldElsewhere n0");
    fleet.csiSet("later", lun({ readOnly: true }), { ...at("d"), ...otherMount });
    await fleet.live(2_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n3")).to.equal("VolumeHeldElsewhere n2");
    expect(fleet.intent("n3").status.attach?.message).to.match(/^node n2 waits since 20.* has its turn first$/);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n2"]);
    fleet.api.remove("nodevolumesets", "writer");
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n3"]);
  });

  it("is given back by a node that is drained, and needs no objects of CSI drivers to be read", async () => {
    const fleet = createCSIFleet();
    const asked = new Set<string>();
    fleet.api.fault = ({ path }) => {
      if (/csinodes|csidrivers|volumeattachments|persistentvolume|storageclasses/.test(path)) asked.add(path);
      return undefined;
    };
    for (const name of ["n0", "n1"]) {
      fleet.node(name, { labels: { role: "a" } });
      fleet.mute.add(name);
    }
    fleet.csiSet("a", lun(), at("a"));
    fleet.start();
    await fleet.live(2_000);
    const [holder = ""] = fleet.granted();
    expect(fleet.granted()).to.have.length(1);
    fleet.node(holder, { labels: { role: "a" }, unschedulable: true });
    await fleet.live(3_000);
    expect(fleet.granted()).to.have.length(1).and.not.to.include(holder);
    expect([...asked]).to.deep.equal([]);
  });

  it("a grant that has no answer gives it to nobody else", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    let failures = 0;
    fleet.api.fault = ({ body }) => {
      if (failures > 2 || !JSON.stringify(body ?? {}).includes('"grant":{"id"')) return undefined;
      failures += 1;
      return { when: failures === 1 ? "before" : "after" };
    };
    fleet.csiSet("a", lun());
    fleet.start();
    await fleet.live(5_000);
    expect(failures).to.be.greaterThan(0);
    expect(fleet.granted()).to.have.length(1);
  });
});

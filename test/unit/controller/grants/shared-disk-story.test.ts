import { expect } from "chai";
import { addNodes, type CSIFleet, createCSIFleet } from "../attach/csi-fleet.ts";

const disk = "36001405abc0000000000000000000001";
const lun = (iqn: string, lun: number) => ({ iscsi: { targetPortal: "san", iqn: `iqn.2026-01.example:${iqn}`, lun } });
const at = (role: string, path: string) => ({ nodeSelector: { role }, mounts: [{ name: "host", path }] });

/** Sets a on n0 and b on n1, of two sources; both are granted. */
async function fleetOf(a: object, b: object): Promise<CSIFleet> {
  const fleet = createCSIFleet();
  addNodes(fleet, { n0: "a", n1: "b" });
  fleet.csiSet("a", a, at("a", "/mnt/nodevolume/a"));
  fleet.start();
  await fleet.live(2_000);
  fleet.csiSet("b", b, at("b", "/mnt/nodevolume/b"));
  await fleet.live(2_000);
  expect(fleet.granted().sort()).to.deep.equal(["n0", "n1"]);
  return fleet;
}

/** The agent of a node says which disk it has found. */
function finds(fleet: CSIFleet, node: string, found = disk): void {
  fleet.api.patch("nodevolumeintents", fleet.intent(node).metadata.name, { status: { disk: found } }, "status");
}

const given = (fleet: CSIFleet) => ["n0", "n1"].map((node) => fleet.intent(node).spec.grant?.disk);

describe("one LUN that two nodes find by different names", () => {
  for (const [what, a, b] of [
    ["two targets of iSCSI", lun("one", 1), lun("two", 7)],
    ["iSCSI and Fibre Channel", lun("one", 1), { fc: { wwids: [`3${"6001".repeat(4)}`] } }],
    ["iSCSI and a path", lun("one", 1), { local: { path: "/dev/disk/by-path/ip-1" } }],
    ["two paths", { local: { path: "/dev/sdb" } }, { local: { path: "/dev/sdc" } }],
  ] as const) {
    it(`is of one of them, by ${what}: the other gets it when that has acknowledged`, async () => {
      const fleet = await fleetOf(a, b);
      expect(given(fleet), "nothing is given before an agent has found something").to.deep.equal(["", ""]);
      finds(fleet, "n1");
      await fleet.live(1_000);
      finds(fleet, "n0");
      await fleet.live(2_000);
      expect(given(fleet)).to.deep.equal(["", disk]);
      expect(fleet.waitReason("n0")).to.equal("VolumeHeldElsewhere n1");
      expect(fleet.intent("n0").status.attach?.message).to.include(`node n1 has the disk ${disk}`);
      fleet.stubborn.add("n1");
      fleet.api.remove("nodevolumesets", "b");
      await fleet.live(60_000, 1_000);
      expect(given(fleet), "while nobody has acknowledged").to.deep.equal(["", disk]);
      fleet.stubborn.clear();
      await fleet.live(3_000);
      expect(fleet.intent("n0").spec.grant?.disk).to.equal(disk);
      expect(fleet.waitReason("n0")).to.equal(undefined);
    });
  }

  it("also after the controller has been exchanged for another", async () => {
    const fleet = createCSIFleet();
    addNodes(fleet, { n0: "a", n1: "b" });
    fleet.csiSet("a", lun("one", 1), at("a", "/mnt/nodevolume/a"));
    fleet.csiSet("b", lun("two", 1), at("b", "/mnt/nodevolume/b"));
    const first = fleet.start();
    await fleet.live(2_000);
    finds(fleet, "n0");
    await fleet.live(2_000);
    const stopped = first.stop();
    fleet.start("c2");
    finds(fleet, "n1");
    await fleet.live(120_000, 1_000);
    await stopped;
    expect(given(fleet)).to.deep.equal([disk, ""]);
    expect(fleet.waitReason("n1")).to.equal("VolumeHeldElsewhere n0");
  });

  it("is not given to a node that finds another one at that moment", async () => {
    const fleet = await fleetOf(lun("one", 1), lun("two", 1));
    const another = "36001405abc0000000000000000000002";
    let once = 0;
    fleet.api.fault = ({ method, body }) => {
      if (method === "PATCH" && JSON.stringify(body).includes(`"disk":"${disk}"`) && once++ === 0)
        finds(fleet, "n0", another);
      return undefined;
    };
    finds(fleet, "n0");
    await fleet.live(2_000);
    expect([once > 0, ...given(fleet)]).to.deep.equal([true, another, ""]);
    finds(fleet, "n1");
    await fleet.live(2_000);
    expect(given(fleet)).to.deep.equal([another, disk]);
  });

  it("is two disks where they are called otherwise", async () => {
    const fleet = await fleetOf(lun("one", 1), lun("two", 1));
    finds(fleet, "n0");
    finds(fleet, "n1", "36001405abc0000000000000000000002");
    await fleet.live(2_000);
    expect(given(fleet)).to.deep.equal([disk, "36001405abc0000000000000000000002"]);
  });
});

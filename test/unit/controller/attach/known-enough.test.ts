import { expect } from "chai";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };

describe("what has to be known before a volume is attached", () => {
  it("all of the storage objects: while one kind cannot be read nothing is decided", async () => {
    for (const plural of ["csinodes", "csidrivers", "volumeattachments", "persistentvolumeclaims", "storageclasses"]) {
      const fleet = createCSIFleet();
      fleet.driverNode("n0");
      fleet.api.fault = ({ path }) => (path.endsWith(`/${plural}`) ? { status: 403 } : undefined);
      fleet.csiSet("a", { csi: { driver, volumeHandle: "vol-1" } });
      fleet.start();
      await fleet.live(5_000);
      expect([fleet.attachments().length, fleet.granted().length], plural).to.deep.equal([0, 0]);
      fleet.api.fault = () => undefined;
      await fleet.live(60_000);
      expect(fleet.granted(), plural).to.deep.equal(["n0"]);
    }
  }).timeout(20_000);

  it("the claim's PersistentVolume: what waits for a claim goes on when it is bound", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(3_000);
    expect(fleet.waitReason("n0")).to.equal("ClaimNotFound data");
    fleet.claim("data", "vol-1");
    await fleet.live(8_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("where it can be used: nothing is attached to a node that its PersistentVolume does not allow", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.claim("data", "vol-1");
    const matchExpressions = [{ key: "zone", operator: "In", values: ["b"] }];
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { nodeAffinity: { required } } });
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(8_000);
    expect(fleet.waitReason("n0")).to.equal("NodeAffinityMismatch n0");
    expect(fleet.attachments()).to.deep.equal([]);
    fleet.node("n0", { labels: { zone: "b" } });
    await fleet.live(8_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });
});

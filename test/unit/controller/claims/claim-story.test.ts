import { expect } from "chai";
import type { CSIFleet } from "../attach/csi-fleet.ts";
import { allowed, createCSIFleet, driver } from "../attach/csi-fleet.ts";

const ofData = { name: "data", namespace: "apps", labels: { ...allowed } };
const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
const claimOf = (fleet: CSIFleet) => fleet.api.object("persistentvolumeclaims", "apps/data");
const volumeOf = (fleet: CSIFleet) => fleet.api.object("persistentvolumes", "pv-vol-1");
const isHeld = (fleet: CSIFleet) => Object.hasOwn(claimOf(fleet)?.metadata.labels ?? {}, "nodevolume.dev/held");

function ready(nodes = 1): CSIFleet {
  const fleet = createCSIFleet();
  for (let i = 0; i < nodes; i += 1) fleet.driverNode(`n${i}`);
  fleet.csiSet("a", source);
  return fleet;
}

describe("the controller and claims", () => {
  it("takes a claim: marks, then the label, then five seconds, then the attachment and the grant", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(4_500);
    expect(isHeld(fleet)).to.equal(true);
    expect(fleet.attachments()).to.deep.equal([]);
    expect(fleet.waitReason("n0")).to.equal("WaitingForAttach data");
    await fleet.live(2_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    const { grant, capacityBytes } = fleet.intent("n0").spec;
    expect(grant?.persistentVolume).to.deep.equal({ name: "pv-vol-1", uid: volumeOf(fleet)?.metadata.uid });
    expect(capacityBytes).to.equal(String(2 ** 30));
    expect(claimOf(fleet)?.metadata.finalizers).to.deep.equal(["nodevolume.dev/in-use"]);
    expect(volumeOf(fleet)?.metadata.finalizers).to.deep.equal(["nodevolume.dev/in-use"]);
    const writes = fleet.api.writes.map(({ plural, verb }) => `${verb} ${plural}`);
    expect(writes.indexOf("patch persistentvolumes")).to.be.lessThan(writes.indexOf("create volumeattachments"));
  });

  it("takes a claim at once that its owner has reserved for five seconds, and waits for one that was reserved just now", async () => {
    for (const reservedForMs of [6_000, 0]) {
      const fleet = createCSIFleet();
      for (const node of ["n0", "n1"]) fleet.driverNode(node);
      const reserve = (name: string) => {
        const labels = { "nodevolume.dev/reserved": "true" };
        fleet.api.patch("persistentvolumeclaims", `apps/${name}`, { metadata: { labels } });
      };
      fleet.claim("other", "vol-0");
      reserve("other");
      fleet.csiSet("first", { csi: { driver, volumeHandle: "vol-9" } }); // the controller watches claims from now on
      fleet.start();
      await fleet.live(6_000);
      fleet.csiSet("other", { persistentVolumeClaim: { namespace: "apps", claimName: "other" } });
      await fleet.live(6_000); // and sees that the policy refuses pods
      fleet.claim("data", "vol-1");
      reserve("data");
      await fleet.live(reservedForMs);
      fleet.csiSet("a", source);
      await fleet.live(2_000);
      const waits = !fleet.attachments().some(({ spec }) => JSON.stringify(spec).includes("pv-vol-1"));
      expect(waits, `reserved for ${reservedForMs} ms`).to.equal(reservedForMs === 0);
      expect(isHeld(fleet)).to.equal(true);
    }
  });

  it("takes the first reserved claim that anybody wants at once, if the controller has known it for a while", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.claim("data", "vol-1");
    fleet.api.patch("persistentvolumeclaims", "apps/data", {
      metadata: { labels: { "nodevolume.dev/reserved": "true" } },
    });
    fleet.csiSet("first", { csi: { driver, volumeHandle: "vol-9" } }); // the controller watches claims from now on
    fleet.start();
    await fleet.live(10_000);
    expect(isHeld(fleet)).to.equal(false);
    fleet.csiSet("a", source);
    await fleet.live(2_000);
    expect(isHeld(fleet)).to.equal(true);
    expect(fleet.granted()).to.deep.equal(["n0", "n0"]);
  });

  it("gives the claim back with the last intent, and with it the label and the finalizers", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(8_000);
    fleet.api.remove("persistentvolumeclaims", "apps/data");
    await fleet.live(5_000);
    expect(claimOf(fleet)?.metadata.deletionTimestamp).not.to.equal(undefined);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    expect(claimOf(fleet)).to.equal(undefined);
    expect(volumeOf(fleet)?.metadata.finalizers).to.deep.equal([]);
    expect(fleet.intents()).to.deep.equal([]);
  });

  it("keeps the claim when the intent of a volume in use is stripped away, until somebody vouches for the node", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(8_000);
    const { name } = fleet.intent("n0").metadata;
    fleet.node("n0", { taints: [{ key: "k", effect: "NoExecute" }] });
    fleet.api.patch("nodevolumeintents", name, { metadata: { finalizers: null } });
    await fleet.live(30_000);
    expect(fleet.intents()).to.deep.equal([]);
    expect(isHeld(fleet)).to.equal(true);
    const [attachment] = fleet.attachments();
    const annotations = { "nodevolume.dev/release": "anna: it is off" };
    fleet.api.patch("volumeattachments", attachment?.metadata.name ?? "", { metadata: { annotations } });
    await fleet.live(3_000);
    expect(fleet.attachments()).to.deep.equal([]);
    expect(isHeld(fleet)).to.equal(false);
    expect(claimOf(fleet)?.metadata.finalizers).to.deep.equal([]);
  });

  it("waits for a pod that uses the claim and turns nobody away for it meanwhile", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.pod("app", "data", { status: { phase: "Running" } });
    fleet.start();
    await fleet.live(20_000);
    expect(fleet.intent("n0").status.attach?.reason).to.equal("UsedByPods");
    expect(fleet.intent("n0").status.attach?.on).to.deep.equal({ kind: "Pod", namespace: "apps", name: "app" });
    expect(isHeld(fleet)).to.equal(false);
    fleet.api.remove("pods", "apps/app");
    await fleet.live(20_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("tells every node that waits which pod uses the claim, not the next in turn alone", async () => {
    const fleet = ready(4);
    fleet.claim("data", "vol-1");
    fleet.pod("app", "data", { status: { phase: "Running" } });
    fleet.start();
    await fleet.live(20_000);
    for (const node of ["n0", "n1", "n2", "n3"]) expect(fleet.waitReason(node), node).to.equal("UsedByPods app");
    fleet.api.remove("pods", "apps/app");
    await fleet.live(20_000);
    const [holder = ""] = fleet.granted();
    const others = ["n0", "n1", "n2", "n3"].filter((node) => node !== holder);
    for (const node of others) expect(fleet.waitReason(node), node).to.equal(`VolumeHeldElsewhere ${holder}`);
  });

  it("says of a volume in use that its claim is not protected, while the server refuses that", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(8_000);
    expect(fleet.waitReason("n0")).to.equal(undefined);
    fleet.api.fault = ({ method, path, body }) =>
      method === "PATCH" && path.endsWith("claims/data") && JSON.stringify(body).includes("in-use")
        ? { status: 403 }
        : undefined;
    fleet.api.patch("persistentvolumeclaims", "apps/data", { metadata: { finalizers: [] } });
    await fleet.live(3_000);
    expect(fleet.waitReason("n0")).to.equal("NotProtected");
    expect(fleet.intent("n0").status.attach?.message).to.match(/in-use, .* cannot be set: .+/);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.api.fault = () => undefined;
    await fleet.live(60_000);
    expect(claimOf(fleet)?.metadata.finalizers).to.deep.equal(["nodevolume.dev/in-use"]);
    expect(fleet.waitReason("n0")).to.equal(undefined);
  });

  it("gives the label back when a pod has slipped in", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(3_000);
    expect(isHeld(fleet)).to.equal(true);
    fleet.pod("app", "data");
    await fleet.live(4_000);
    expect(isHeld(fleet)).to.equal(false);
    expect(fleet.waitReason("n0")).to.equal("UsedByPods app");
    expect(fleet.attachments()).to.deep.equal([]);
  });

  it("takes no claim without the policies", async () => {
    const fleet = ready();
    fleet.policy.installed = false;
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(20_000);
    expect(fleet.waitReason("n0")).to.equal("PolicyMissing data");
    fleet.policy.installed = true;
    await fleet.live(20_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("chooses the node of a claim that waits for its first consumer, if one wants it", async () => {
    const fleet = ready();
    const provisioned = { provisioner: driver, volumeBindingMode: "WaitForFirstConsumer" };
    fleet.api.apply("storageclasses", { metadata: { name: "late" }, ...provisioned });
    const spec = { storageClassName: "late" };
    fleet.api.apply("persistentvolumeclaims", { metadata: ofData, spec });
    fleet.start();
    await fleet.live(3_000);
    expect(claimOf(fleet)?.metadata.annotations).to.deep.equal({ "volume.kubernetes.io/selected-node": "n0" });
    expect(fleet.waitReason("n0")).to.equal("ClaimNotBound data");
    fleet.api.patch("persistentvolumeclaims", "apps/data", { metadata: { annotations: null } });
    await fleet.live(1_000);
    expect(fleet.waitReason("n0")).to.equal("ProvisioningRefusedForNode data");
    await fleet.live(16_000);
    expect(claimOf(fleet)?.metadata.annotations).to.deep.equal({ "volume.kubernetes.io/selected-node": "n0" });
  });

  it("lets nobody choose among several nodes", async () => {
    const fleet = ready(2);
    const provisioned = { provisioner: driver, volumeBindingMode: "WaitForFirstConsumer" };
    fleet.api.apply("storageclasses", { metadata: { name: "late" }, ...provisioned });
    const spec = { storageClassName: "late" };
    fleet.api.apply("persistentvolumeclaims", { metadata: ofData, spec });
    fleet.start();
    await fleet.live(5_000);
    expect(claimOf(fleet)?.metadata.annotations ?? {}).to.deep.equal({});
    for (const node of ["n0", "n1"]) expect(fleet.waitReason(node)).to.equal("NeedsScheduler data");
  });

  it("tells the node of a larger size, and the claim when the node has reached it", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(8_000);
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    const pending = [{ type: "FileSystemResizePending", status: "True" }];
    const status = { conditions: pending, allocatedResourceStatuses: { storage: "NodeResizePending" } };
    fleet.api.patch("persistentvolumeclaims", "apps/data", { status }, "status");
    await fleet.live(1_000);
    expect(fleet.intent("n0").spec.capacityBytes).to.equal(String(2 * 2 ** 30));
    expect(claimOf(fleet)?.status).to.deep.include({ capacity: { storage: "1Gi" } });
    const { name } = fleet.intent("n0").metadata;
    fleet.api.patch("nodevolumeintents", name, { status: { capacityBytes: String(2 * 2 ** 30) } }, "status");
    await fleet.live(1_000);
    expect(claimOf(fleet)?.status).to.deep.include({ capacity: { storage: "2Gi" }, conditions: [] });
    expect(claimOf(fleet)?.status).not.to.have.property("allocatedResourceStatuses");
  });
});

import { expect } from "chai";
import type { CSIFleet } from "../attach/csi-fleet.ts";
import { allowed, createCSIFleet, driver } from "../attach/csi-fleet.ts";

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

/** A second claim, with a PersistentVolume of its own that names the same volume. */
function twinOf(fleet: CSIFleet): void {
  const { spec } = volumeOf(fleet) as { spec: object };
  const metadata = { name: "twin", namespace: "apps", labels: { ...allowed } };
  const status = { phase: "Bound" };
  const twin = fleet.api.apply("persistentvolumeclaims", { metadata, spec: { volumeName: "pv-twin" }, status });
  const claimRef = { namespace: "apps", name: "twin", uid: twin.metadata.uid };
  fleet.api.apply("persistentvolumes", { metadata: { name: "pv-twin" }, spec: { ...spec, claimRef } });
}

describe("a volume with two claims", () => {
  it("labels every claim of the volume, and goes by the handle", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    twinOf(fleet);
    fleet.pod("app", "twin");
    fleet.start();
    await fleet.live(8_000);
    expect(fleet.waitReason("n0")).to.equal("UsedByPods app");
    fleet.api.remove("pods", "apps/app");
    await fleet.live(20_000);
    const labels = fleet.api.object("persistentvolumeclaims", "apps/twin")?.metadata.labels;
    expect(labels).to.deep.equal({ "nodevolume.dev/held": "", ...allowed });
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("labels a twin that is made while the volume is in use, and says who uses it beside us as long as they do", async () => {
    const fleet = ready();
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { attachRequired: false } });
    fleet.claim("data", "vol-1");
    fleet.start();
    await fleet.live(9_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    twinOf(fleet);
    fleet.pod("app", "twin");
    await fleet.live(8_000);
    const labels = fleet.api.object("persistentvolumeclaims", "apps/twin")?.metadata.labels;
    expect(labels).to.deep.equal({ "nodevolume.dev/held": "", ...allowed });
    expect(fleet.waitReason("n0")).to.equal("SharedWithKubelet app");
    fleet.api.remove("pods", "apps/app");
    await fleet.live(11_000);
    expect(fleet.waitReason("n0")).to.equal(undefined);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    for (const name of ["data", "twin"]) {
      const { metadata } = fleet.api.object("persistentvolumeclaims", `apps/${name}`) ?? {};
      expect([metadata?.labels, metadata?.finalizers], name).to.deep.equal([allowed, []]);
    }
  });
});

describe("a claim on many nodes", () => {
  it("is taken as any other when it appears for a volume that another node has already", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) {
      fleet.driverNode(name);
      fleet.node(name, { labels: { role: name } });
    }
    const inline = { csi: { driver, volumeHandle: "vol-1", accessMode: "ReadWriteMany" } };
    fleet.csiSet("a", inline, { nodeSelector: { role: "n0" } });
    fleet.start();
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
    const mounts = [{ name: "host", path: "/mnt/nodevolume/b" }];
    fleet.csiSet("b", source, { nodeSelector: { role: "n1" }, mounts });
    await fleet.live(500);
    expect(isHeld(fleet)).to.equal(true);
    fleet.pod("app", "data");
    await fleet.live(9_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n1")).to.equal("UsedByPods app");
    expect(isHeld(fleet), "in use all the same").to.equal(true);
  });

  it("grows on all of them whatever the status of one says", async () => {
    const fleet = ready(2);
    fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
    fleet.start();
    await fleet.live(9_000);
    expect(fleet.granted()).to.have.length(2);
    const { name } = fleet.intent("n0").metadata;
    fleet.api.patch("nodevolumeintents", name, { status: { capacityBytes: "x" } }, "status");
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    await fleet.live(3_000);
    for (const node of ["n0", "n1"]) expect(fleet.intent(node).spec.capacityBytes).to.equal(String(2 * 2 ** 30));
  });

  it("is given back by the last of them, before its intent is gone", async () => {
    const fleet = ready(5);
    fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
    fleet.start();
    await fleet.live(9_000);
    expect(fleet.granted()).to.have.length(5);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    expect(claimOf(fleet)?.metadata.finalizers).to.deep.equal([]);
    const writes = fleet.api.writes.map(({ plural, body }) => `${plural} ${JSON.stringify(body)}`);
    const off = writes.findIndex((write) => write.startsWith("persistentvolumeclaims") && write.includes("null"));
    const lastIntent = writes.findLastIndex(
      (write) => write.startsWith("nodevolumeintents") && write.includes('"finalizers":[]'),
    );
    expect(off).to.be.greaterThan(-1).and.lessThan(lastIntent);
  });
});

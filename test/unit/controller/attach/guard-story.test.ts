import { hash } from "node:crypto";
import { expect } from "chai";
import type { CSIFleet } from "./csi-fleet.ts";
import { allowed, createCSIFleet, driver } from "./csi-fleet.ts";

const volume = (handle: string, more = {}) => ({ csi: { driver, volumeHandle: handle, ...more } });
const attachmentOf = (fleet: CSIFleet, node: string) =>
  fleet.attachments().find(({ spec }) => (spec as { nodeName?: string }).nodeName === node);

describe("one volume, several nodes", () => {
  it("grants a single-node volume to the oldest, then to the next after acknowledgement and detach", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1", "n2"]) fleet.driverNode(name);
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(3_000);
    const [first] = fleet.granted();
    expect(fleet.granted()).to.have.length(1);
    expect(fleet.attachments()).to.have.length(1);
    const others = ["n0", "n1", "n2"].filter((name) => name !== first);
    for (const other of others) expect(fleet.waitReason(other)).to.equal(`VolumeHeldElsewhere ${first}`);

    fleet.attacher.paused.add("detach");
    fleet.node(first ?? "", { taints: [{ key: "k", effect: "NoExecute" }] });
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal([first]);
    for (const other of others) expect(fleet.waitReason(other)).to.equal(`Detaching ${first}`);
    fleet.attacher.paused.clear();
    await fleet.live(3_000);
    expect(fleet.granted()).to.have.length(1);
    expect(fleet.granted()).not.to.include(first);
  });

  it("keeps the volume from others while the first does not answer, however long", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(3_000);
    const [first = ""] = fleet.granted();
    fleet.stubborn.add(first);
    fleet.node(first, { taints: [{ key: "k", effect: "NoExecute" }] });
    await fleet.live(600_000, 1_000);
    expect(fleet.granted()).to.deep.equal([first]);
    expect(attachmentOf(fleet, first)?.metadata.deletionTimestamp).to.equal(undefined);
  });

  it("gives a volume that many may have to all of them at once", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1", "n2"]) fleet.driverNode(name);
    fleet.csiSet("a", volume("vol-1", { accessMode: "ReadWriteMany" }));
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.granted().sort()).to.deep.equal(["n0", "n1", "n2"]);
  });

  it("waits for the driver, for room, and until another's attachment is gone", async () => {
    const fleet = createCSIFleet();
    fleet.node("n0");
    fleet.mute.add("n0");
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(1_000);
    expect(fleet.waitReason("n0")).to.equal("DriverNotOnNode n0");
    const name = kubeletsAttachmentName(driver, "vol-1", "n7");
    const source = { inlineVolumeSpec: { csi: { driver, volumeHandle: "vol-1" } } };
    fleet.api.apply("volumeattachments", { metadata: { name }, spec: { attacher: driver, nodeName: "n7", source } });
    fleet.driverNode("n0", 0);
    await fleet.live(1_000);
    expect(fleet.waitReason("n0")).to.equal("ForeignAttachment n7");
    fleet.api.remove("volumeattachments", name);
    await fleet.live(1_000);
    expect(fleet.waitReason("n0")).to.equal("AttachLimitReached n0");
    fleet.driverNode("n0", 1);
    await fleet.live(1_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.intent("n0").status.attach).to.equal(undefined);
  });

  it("shows the driver's error verbatim but bounded, and goes on when it is over", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.attacher.error = `rpc error: ${"ü".repeat(5_000)}`;
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(2_000);
    const { attach } = fleet.intent("n0").status;
    expect(attach?.reason).to.equal("AttachFailed");
    expect(attach?.message).to.match(/^rpc error: ü+…$/);
    expect(new TextEncoder().encode(attach?.message).length).to.be.at.most(1_024);
    fleet.attacher.error = "";
    await fleet.live(1_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("makes an attachment that somebody deleted again, and takes it for no release", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(3_000);
    const [first = ""] = fleet.granted();
    const grant = fleet.intent(first).spec.grant;
    const before = attachmentOf(fleet, first);
    fleet.api.remove("volumeattachments", before?.metadata.name ?? "");
    await fleet.live(2_000);
    const after = attachmentOf(fleet, first);
    expect(after?.metadata.uid).not.to.equal(before?.metadata.uid);
    expect(after?.metadata.annotations?.["nodevolume.dev/grant"]).to.equal(grant?.id);
    expect(fleet.intent(first).spec.grant).to.deep.equal(grant);
    expect(fleet.api.objects("events").map((event) => event["reason"])).to.include("Drifted");
    expect(fleet.granted()).to.deep.equal([first]);
  });

  it("detaches what nobody asks for any more, and adopts what somebody does", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.attacher.paused.add("attach");
    fleet.csiSet("a", volume("vol-1"));
    fleet.start("c0");
    await fleet.live(1_500);
    const [made] = fleet.attachments();
    const { nodeName } = (made?.spec ?? {}) as { nodeName: string };
    // The intent goes without a trace, as with a finalizer that somebody strips; its set wants it again.
    const intent = fleet.intent(nodeName).metadata.name;
    fleet.api.patch("nodevolumeintents", intent, { metadata: { finalizers: null } });
    fleet.api.remove("nodevolumeintents", intent);
    fleet.attacher.paused.clear();
    await fleet.live(3_000);
    expect(fleet.granted()).to.have.length(1);
    expect(fleet.attachments()).to.have.length(1);
  });

  it("keeps an attachment that a grant rested on when its intent is stripped away: the volume may be in use", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.csiSet("a", volume("vol-1"));
    fleet.start();
    await fleet.live(3_000);
    const [first = ""] = fleet.granted();
    const other = first === "n0" ? "n1" : "n0";
    const intent = fleet.intent(first).metadata.name;
    fleet.node(first, { taints: [{ key: "k", effect: "NoExecute" }] });
    fleet.api.patch("nodevolumeintents", intent, { metadata: { finalizers: null } });
    await fleet.live(30_000);
    expect(attachmentOf(fleet, first)?.metadata.deletionTimestamp).to.equal(undefined);
    expect(fleet.waitReason(other)).to.equal(`VolumeHeldElsewhere ${first}`);
    const kept = attachmentOf(fleet, first)?.metadata.name;
    const wayOut = `kubectl annotate volumeattachment ${kept} nodevolume.dev/release='who, why'`;
    expect(fleet.intent(other).status.attach?.message).to.include(wayOut);
    fleet.node(first, { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] });
    await fleet.live(3_000);
    expect(fleet.granted()).to.deep.equal([other]);
  });

  it("an attachment of ours stays with its volume when its PersistentVolume comes to name another one", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.claim("data", "vol-1");
    fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(9_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    const marked = fleet.api.writes.filter(({ plural }) => plural === "persistentvolumeclaims").length;
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { csi: { volumeHandle: "vol-2" } } });
    await fleet.live(3_000);
    expect(fleet.waitReason("n0")).to.equal(undefined);
    expect(fleet.attachments()).to.have.length(1);
    const marks = fleet.api.writes.filter(({ plural }) => plural === "persistentvolumeclaims").slice(marked);
    expect(marks, "two volumes do not take it from each other").to.deep.equal([]);
    expect(fleet.api.objects("events").map((event) => event["reason"])).not.to.include("Drifted");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(3_000);
    const left = fleet.api.objects("persistentvolumeclaims").map(({ metadata: { finalizers, labels } }) => ({
      finalizers,
      labels,
    }));
    expect([fleet.intents(), left], "nobody's any more").to.deep.equal([[], [{ finalizers: [], labels: allowed }]]);
  });

  it("two PersistentVolumes and a set that names the handle itself are one volume", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0"]) fleet.driverNode(name);
    fleet.claim("data", "vol-1");
    fleet.csiSet("a", volume("vol-1"));
    fleet.csiSet("b", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(10_000);
    expect(fleet.granted()).to.have.length(1);
    expect(fleet.attachments()).to.have.length(1);
    const waiting = fleet.intents().find(({ spec }) => spec.grant === undefined);
    expect(waiting?.status.attach?.reason).to.equal("VolumeHeldElsewhere");
  });
});

/** kube-controller-manager's name for the same (pkg/volume/csi/csi_attacher.go, getAttachmentName). */
function kubeletsAttachmentName(driver: string, volumeHandle: string, node: string): string {
  return `csi-${hash("sha256", `${volumeHandle}${driver}${node}`, "hex")}`;
}

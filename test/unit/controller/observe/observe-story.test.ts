import { expect } from "chai";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import type { CSIFleet } from "../attach/csi-fleet.ts";
import { allowed, createCSIFleet, driver } from "../attach/csi-fleet.ts";

/** A pod that a container uses a claim in; a fake scheduler has chosen its node. */
function pod(fleet: CSIFleet, name: string, node: string, claimName = "data", more: object = {}): void {
  fleet.api.apply("pods", {
    metadata: { name, namespace: "apps" },
    spec: {
      ...(node !== "" && { nodeName: node }),
      containers: [{ name: "main", volumeMounts: [{ name: "v", mountPath: "/data" }] }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
      ...more,
    },
  });
}

/** What kube-controller-manager writes. */
function kubeletsAttachment(fleet: CSIFleet, node: string, volume: string): void {
  fleet.api.apply("volumeattachments", {
    metadata: { name: `csi-${node}` },
    spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: volume } },
  });
}

function ready(nodes = 1): CSIFleet {
  const fleet = createCSIFleet();
  for (let i = 0; i < nodes; i += 1) fleet.driverNode(`n${i}`);
  return fleet;
}

const on = (fleet: CSIFleet, node: string): Intent[] =>
  fleet.intents().filter(({ spec }) => spec.nodeName === node && spec.observed !== undefined);
const users = ({ spec }: Intent) => (spec.pods ?? []).map(({ name, volume }) => `${name}/${volume}`);

describe("claims that kubelet manages for pods", () => {
  it("each has one intent a node, with kubelet's names and its pods, while a pod there names it", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    pod(fleet, "web-1", "n0");
    pod(fleet, "later", "");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const [intent, ...others] = on(fleet, "n0");
    expect(others).to.deep.equal([]);
    expect(intent?.spec).to.deep.include({
      mode: "Observe",
      volumeName: "data",
      source: { persistentVolumeClaim: { namespace: "apps", claimName: "data" } },
      observed: {
        plugin: "kubernetes.io/csi",
        volumeName: "pv-vol-1",
        driver,
        volumeHandle: "vol-1",
        attachRequired: true,
      },
    });
    expect(intent && users(intent)).to.deep.equal(["web-0/v", "web-1/v"]);
    expect(intent?.spec.grant).to.equal(undefined);
    expect(intent?.metadata.finalizers, "nothing is held").to.equal(undefined);
    const claim = fleet.api.object("persistentvolumeclaims", "apps/data");
    expect(claim?.metadata.labels, "the claim is not taken").to.deep.equal(allowed);
    expect(fleet.attachments(), "nothing is attached").to.deep.equal([]);

    fleet.api.remove("pods", "apps/web-0");
    await fleet.live(500);
    expect(on(fleet, "n0").map(users)).to.deep.equal([["web-1/v"]]);
    fleet.api.remove("pods", "apps/web-1");
    await fleet.live(500);
    expect(on(fleet, "n0"), "at once, whatever its agent says").to.deep.equal([]);
  });

  it("has an intent before the claim is bound, with the claim's words, and the volume's names afterwards", async () => {
    const fleet = ready();
    fleet.api.apply("storageclasses", {
      metadata: { name: "slow" },
      provisioner: driver,
      volumeBindingMode: "WaitForFirstConsumer",
    });
    fleet.api.apply("persistentvolumeclaims", {
      metadata: { name: "data", namespace: "apps", annotations: { "volume.kubernetes.io/selected-node": "n0" } },
      spec: { storageClassName: "slow" },
      status: { phase: "Pending" },
    });
    pod(fleet, "web-0", "n0");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const [unbound] = on(fleet, "n0");
    expect(unbound?.spec.observed).to.deep.equal({ plugin: "kubernetes.io/csi", volumeName: "" });
    expect(unbound?.status.attach).to.deep.include({ reason: "ClaimNotBound" });
    expect(unbound?.status.attach?.message)
      .to.contain("first consumer")
      .and.to.contain("node n0")
      .and.to.contain(driver);
    expect(unbound?.status.attach?.since).to.be.a("string");
    fleet.claim("data", "vol-1");
    await fleet.live(1_000);
    expect(on(fleet, "n0")[0]?.spec.observed?.volumeName).to.equal("pv-vol-1");
    expect(on(fleet, "n0")[0]?.metadata.uid, "the same intent").to.equal(unbound?.metadata.uid);
  });

  it("has none once it is bound to what no CSI driver mounts: nothing of that is looked for on the node", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1", { csi: undefined, local: { path: "/disks/1" } });
    pod(fleet, "web-0", "n0");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    expect(on(fleet, "n0")).to.deep.equal([]);
  });

  it("says of its VolumeAttachment that it is not there, not attached, why not, and that it is", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    fleet.attacher.paused.add("attach");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const attach = () => on(fleet, "n0")[0]?.status.attach;
    expect(attach()).to.deep.include({ reason: "WaitingForAttach", on: { kind: "Node", name: "n0" } });
    kubeletsAttachment(fleet, "n0", "pv-vol-1");
    await fleet.live(2_000);
    expect(attach()).to.deep.include({ reason: "WaitingForAttach", volumeAttachment: "csi-n0" });
    fleet.attacher.error = "disk is on fire";
    fleet.attacher.paused.delete("attach");
    await fleet.live(2_000);
    expect(attach()).to.deep.include({ reason: "AttachFailed", message: "disk is on fire" });
    Object.assign(fleet.attacher, { error: "no slot", errorCode: 8 });
    await fleet.live(2_000);
    expect(attach()?.reason).to.equal("AttachLimitReached");
    expect(attach()?.message).to.match(/no room .* on node n0, whose CSINode names no limit; .* Its message: no slot$/);
    Object.assign(fleet.attacher, { error: "", errorCode: undefined });
    await fleet.live(2_000);
    expect(attach()).to.deep.equal({ volumeAttachment: "csi-n0" });
  });

  it("names the pod and the node that have a volume for one node (Multi-Attach)", async () => {
    const fleet = ready(2);
    fleet.claim("data", "vol-1");
    pod(fleet, "old", "n0");
    kubeletsAttachment(fleet, "n0", "pv-vol-1");
    pod(fleet, "new", "n1");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const attach = () => on(fleet, "n1")[0]?.status.attach;
    expect(attach()).to.deep.include({
      reason: "VolumeHeldElsewhere",
      on: { kind: "Pod", namespace: "apps", name: "old", node: "n0" },
    });
    expect(attach()?.message).to.contain("csi-n0").and.to.contain("pod apps/old uses it there");
    expect(on(fleet, "n0")[0]?.status.attach).to.deep.equal({ volumeAttachment: "csi-n0" });
    fleet.api.remove("pods", "apps/old");
    await fleet.live(2_000);
    expect(attach()?.on).to.deep.equal({ kind: "VolumeAttachment", name: "csi-n0", node: "n0" });
    expect(attach()?.message).to.contain("no pod there names its claim");
    pod(fleet, "again", "n0");
    await fleet.live(2_000);
    expect(attach()?.on, "who came since").to.deep.include({ kind: "Pod", name: "again" });
  });

  it("says that the driver is not on the node, and goes on when it is", async () => {
    const fleet = ready();
    fleet.api.apply("csinodes", { metadata: { name: "n0" }, spec: { drivers: [] } });
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { attachRequired: false } });
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    expect(on(fleet, "n0")[0]?.status.attach).to.deep.include({ reason: "DriverNotOnNode" });
    fleet.driverNode("n0");
    await fleet.live(500);
    expect(on(fleet, "n0")[0]?.status.attach).to.equal(undefined);
  });

  it("counts a generic ephemeral volume once the claim of its name is the pod's own", async () => {
    const fleet = ready();
    fleet.claim("web-0-v", "vol-1");
    pod(fleet, "web-0", "n0", "", { volumes: [{ name: "v", ephemeral: {} }] });
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    expect(on(fleet, "n0"), "somebody else's").to.deep.equal([]);
    const uid = fleet.api.object("pods", "apps/web-0")?.metadata.uid;
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "web-0", uid, controller: true }];
    fleet.api.patch("persistentvolumeclaims", "apps/web-0-v", { metadata: { ownerReferences } });
    await fleet.live(1_000);
    expect(on(fleet, "n0").map(users)).to.deep.equal([["web-0/v"]]);
    fleet.api.patch("persistentvolumeclaims", "apps/web-0-v", { metadata: { ownerReferences: null } });
    await fleet.live(1_000);
    expect(on(fleet, "n0")).to.deep.equal([]);
  });

  it("keeps what it knows of a volume while its claim is deleted beneath pods that have it", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    fleet.api.remove("persistentvolumeclaims", "apps/data");
    await fleet.live(2_000);
    const [intent] = on(fleet, "n0");
    expect(intent?.spec.observed?.volumeName).to.equal("pv-vol-1");
    expect(intent?.status.attach?.reason).to.equal("ClaimNotFound");
  });

  it("writes nothing while nothing changes, and nothing at all with None, which removes what was there", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    kubeletsAttachment(fleet, "n0", "pv-vol-1");
    const first = fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const before = fleet.writesOf("nodevolumeintents");
    await fleet.live(60_000);
    expect(fleet.writesOf("nodevolumeintents")).to.equal(before);
    const stopped = first.stop();
    await fleet.live(2_000);
    await stopped;
    fleet.start("c2", "None");
    await fleet.live(40_000);
    expect(fleet.intents()).to.deep.equal([]);
  });

  it("takes nothing away while pods cannot be read (law L8)", async () => {
    const fleet = ready();
    fleet.claim("data", "vol-1");
    pod(fleet, "web-0", "n0");
    const first = fleet.start("c1", "PersistentVolumes");
    await fleet.live(8_000);
    const stopped = first.stop();
    await fleet.live(2_000);
    await stopped;
    // Neither a list nor a watch of pods is answered any more.
    const { request, stream } = fleet.api;
    const isPods = (path: string) => path === "/api/v1/pods";
    const refused = { status: 403, body: { kind: "Status", reason: "Forbidden", message: "no pods", code: 403 } };
    fleet.api.request = (sent) => (isPods(sent.path) ? Promise.resolve(refused) : request(sent));
    fleet.api.stream = (sent, handlers) => {
      if (!isPods(sent.path)) return stream(sent, handlers);
      return fleet.system.timers.after(1, () => handlers.onEnd({ response: refused }));
    };
    fleet.start("c2", "PersistentVolumes");
    await fleet.live(40_000);
    expect(on(fleet, "n0").map(users)).to.deep.equal([["web-0/v"]]);
  });
});

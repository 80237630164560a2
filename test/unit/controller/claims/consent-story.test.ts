import { expect } from "chai";
import { allowing } from "../../../../hack/lib/allowing.ts";
import type { FakeObject } from "../../fake-api-objects.ts";
import type { CSIFleet } from "../attach/csi-fleet.ts";
import { addNodes, allowed, createCSIFleet, driver } from "../attach/csi-fleet.ts";
import { ours, rawPod } from "../pods/pod-objects.ts";

const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
const none = Object.fromEntries(Object.keys(allowed).map((key) => [key, null]));
const label = (fleet: CSIFleet, labels: object) =>
  fleet.api.patch("persistentvolumeclaims", "apps/data", { metadata: { labels } });
const allow = (fleet: CSIFleet) => label(fleet, allowing("a"));
const deny = (fleet: CSIFleet) => label(fleet, none);
const marksOf = (fleet: CSIFleet) => {
  const {
    labels = {},
    finalizers = [],
    annotations = {},
  } = fleet.api.object("persistentvolumeclaims", "apps/data")?.metadata ?? {};
  return [labels, finalizers, annotations];
};
const says = (fleet: CSIFleet, set = "a") =>
  fleet.conditions(set).some((condition) => condition === "Stalled=True/ClaimNotAllowed");
const told = (fleet: CSIFleet) =>
  fleet.api.objects("events").flatMap((event) => {
    const { kind, name } = event["involvedObject"] as { kind: string; name: string };
    return event["reason"] === "ClaimNotAllowed" ? [`${kind} ${name}`] : [];
  });

/** A claim that allows nobody, on node n0 of role `first` and n1 of role `second`. */
function closed(modes = ["ReadWriteOnce"]): CSIFleet {
  const fleet = createCSIFleet();
  addNodes(fleet, { n0: "first", n1: "second" });
  fleet.api.apply("namespaces", { metadata: { name: "apps" } });
  fleet.claim("data", "vol-1", { accessModes: modes });
  deny(fleet);
  return fleet;
}

const byHandle = { csi: { driver, volumeHandle: "vol-1" } };
const mountNames = (fleet: CSIFleet) => fleet.intent("n0").spec.mounts.map(({ name }) => name);
const onFirst = { nodeSelector: { role: "first" } };

describe("a claim that does not allow the set", () => {
  it("is not touched, and no node is asked; the set says why, and has it once it is allowed", async () => {
    const fleet = closed();
    fleet.csiSet("a", source, onFirst);
    fleet.start();
    for (const labels of [{}, allowing("b"), { "allowed-set.nodevolume.dev/a": "false" }]) {
      label(fleet, labels);
      await fleet.live(8_000);
      expect([fleet.intents(), fleet.attachments(), says(fleet)]).to.deep.equal([[], [], true]);
      expect(marksOf(fleet)).to.deep.include.members([[], {}]);
      expect(Object.hasOwn(marksOf(fleet)[0] ?? {}, "nodevolume.dev/held")).to.equal(false);
    }
    expect(fleet.setStatus("a")).to.deep.include({ summary: "ClaimNotAllowed on n0", failed: 1, ready: 0 });
    expect(told(fleet)).to.deep.equal(["NodeVolumeSet a"]);
    allow(fleet);
    await fleet.live(8_000);
    expect([fleet.granted(), fleet.conditions("a")[0]]).to.deep.equal([["n0"], "Ready=True/AllReady"]);
  });

  it("gets no node chosen, if it waits for its first consumer", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const provisioned = { provisioner: driver, volumeBindingMode: "WaitForFirstConsumer" };
    fleet.api.apply("storageclasses", { metadata: { name: "late" }, ...provisioned });
    const spec = { storageClassName: "late" };
    fleet.api.apply("persistentvolumeclaims", { metadata: { name: "data", namespace: "apps" }, spec });
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(5_000);
    expect([fleet.intents(), marksOf(fleet)]).to.deep.equal([[], [{}, [], {}]]);
    allow(fleet);
    await fleet.live(3_000);
    expect(marksOf(fleet)[2]).to.deep.equal({ "volume.kubernetes.io/selected-node": "n0" });
  });

  it("is not taken by its handle either", async () => {
    const fleet = closed();
    fleet.csiSet("a", byHandle, onFirst);
    fleet.start();
    await fleet.live(8_000);
    expect([fleet.intents(), fleet.attachments(), says(fleet)]).to.deep.equal([[], [], true]);
    expect(marksOf(fleet)).to.deep.equal([{}, [], {}]);
    allow(fleet);
    await fleet.live(8_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("is its owner's again when the allowed set goes, whoever else names its handle", async () => {
    const fleet = closed();
    allow(fleet);
    fleet.csiSet("a", source, onFirst);
    fleet.csiSet("b", byHandle, { nodeSelector: { role: "second" } });
    fleet.start();
    await fleet.live(9_000);
    expect([fleet.granted(), says(fleet, "b")]).to.deep.equal([["n0"], true]);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(5_000);
    expect([fleet.granted(), fleet.attachments()]).to.deep.equal([[], []]);
    expect(marksOf(fleet)).to.deep.equal([allowing("a"), [], {}]);
  });

  it("is not joined by its handle on a node where another set has it", async () => {
    const fleet = closed();
    allow(fleet);
    fleet.csiSet("a", byHandle, onFirst);
    fleet.start();
    await fleet.live(9_000);
    fleet.csiSet("b", byHandle, onFirst);
    await fleet.live(3_000);
    expect([mountNames(fleet), says(fleet, "b"), says(fleet)]).to.deep.equal([["a.host"], true, false]);
    label(fleet, allowing("b"));
    await fleet.live(3_000);
    expect([mountNames(fleet), says(fleet, "b")]).to.deep.equal([["a.host", "b.host"], false]);
  });

  it("is asked of a set that names the volume by another claim, too", async () => {
    const fleet = closed();
    allow(fleet);
    const metadata = { name: "twin", namespace: "apps", labels: { ...allowed } };
    const claim = { metadata, spec: { volumeName: "pv-twin" }, status: { phase: "Bound" } };
    const { uid } = fleet.api.apply("persistentvolumeclaims", claim).metadata;
    const spec = { csi: byHandle.csi, claimRef: { namespace: "apps", name: "twin", uid } };
    fleet.api.apply("persistentvolumes", { metadata: { name: "pv-twin" }, spec });
    fleet.csiSet("a", source, onFirst);
    fleet.start();
    await fleet.live(9_000);
    const twin = { persistentVolumeClaim: { namespace: "apps", claimName: "twin" } };
    fleet.csiSet("b", twin, onFirst);
    await fleet.live(3_000);
    expect(says(fleet, "b")).to.equal(true);
    expect(fleet.intents().flatMap(({ spec }) => spec.mounts.map(({ name }) => name))).to.deep.equal(["a.host"]);
  });

  it("is asked when it is bound to the volume that a set has by its handle", async () => {
    const fleet = createCSIFleet();
    addNodes(fleet, { n0: "first", n1: "second" });
    fleet.api.apply("namespaces", { metadata: { name: "apps" } });
    fleet.csiSet("a", { csi: { ...byHandle.csi, accessMode: "ReadWriteMany" } }, onFirst);
    fleet.start();
    await fleet.live(9_000);
    expect([fleet.granted(), says(fleet)]).to.deep.equal([["n0"], false]);
    fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
    deny(fleet);
    await fleet.live(3_000);
    expect([fleet.granted(), mountNames(fleet), says(fleet)]).to.deep.equal([["n0"], ["a.host"], true]);
  });

  it("joins no pod of the namespace, which has it without", async () => {
    const fleet = closed();
    const { metadata, ...pod } = rawPod("apps/p", { node: "n0", volumes: [ours({ persistentVolumeClaim: "data" })] });
    fleet.api.apply("pods", { ...pod, metadata: { name: metadata.name, namespace: "apps" } } as FakeObject);
    fleet.start();
    await fleet.live(9_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.csiSet("a", source, onFirst);
    await fleet.live(3_000);
    expect([fleet.intent("n0").spec.mounts, says(fleet)]).to.deep.equal([[], true]);
    allow(fleet);
    await fleet.live(3_000);
    expect(mountNames(fleet)).to.deep.equal(["a.host"]);
  });

  it("goes to no pod that names the set, which is told, until it is allowed", async () => {
    const fleet = closed();
    fleet.csiSet("a", source, { ...onFirst, mounts: [], allowedNamespaces: { names: ["apps"] } });
    const { metadata, ...pod } = rawPod("apps/p", { node: "n0", volumes: [ours({ set: "a" })] });
    fleet.api.apply("pods", { ...pod, metadata: { name: metadata.name, namespace: "apps" } } as FakeObject);
    fleet.start();
    await fleet.live(8_000);
    expect([fleet.intents(), told(fleet)]).to.deep.equal([[], ["Pod p"]]);
    allow(fleet);
    await fleet.live(9_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });
});

describe("consent that is taken back", () => {
  it("before the grant: the intent goes, and with it what was attached for it", async () => {
    const fleet = closed();
    allow(fleet);
    fleet.csiSet("a", source, onFirst);
    fleet.attacher.paused.add("attach");
    fleet.start();
    await fleet.live(8_000);
    expect([fleet.granted(), fleet.attachments().length]).to.deep.equal([[], 1]);
    deny(fleet);
    await fleet.live(5_000);
    fleet.attacher.paused.clear();
    await fleet.live(5_000);
    expect([fleet.intents(), fleet.attachments(), says(fleet)]).to.deep.equal([[], [], true]);
    expect(marksOf(fleet)).to.deep.equal([{}, [], {}]);
  });

  it("after the grant: all of it stays, nothing new comes, and set and intent say why", async () => {
    const fleet = closed(["ReadWriteMany"]);
    allow(fleet);
    fleet.csiSet("a", source, onFirst);
    fleet.start();
    await fleet.live(9_000);
    const { spec } = fleet.intent("n0");
    deny(fleet);
    fleet.csiSet("a", source, { mounts: [{ name: "host", path: "/mnt/nodevolume/other" }] });
    await fleet.live(9_000);
    expect(fleet.intents().map(({ spec: { nodeName } }) => nodeName)).to.deep.equal(["n0"]);
    expect(fleet.intent("n0").spec).to.deep.equal(spec);
    expect([says(fleet), fleet.waitReason("n0")]).to.deep.equal([true, "ClaimNotAllowed data"]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=False/NodesNotReady");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(5_000);
    expect([fleet.intents(), fleet.attachments(), marksOf(fleet)]).to.deep.equal([[], [], [{}, [], {}]]);
  });

  it("of a set that is ready everywhere: it is not Ready any more, until consent is back", async () => {
    const fleet = closed();
    allow(fleet);
    fleet.csiSet("a", source, onFirst);
    fleet.start();
    await fleet.live(9_000);
    deny(fleet);
    await fleet.live(3_000);
    expect(fleet.conditions("a")[0]).to.equal("Ready=False/ClaimNotAllowed");
    expect(fleet.setStatus("a")).to.deep.include({ ready: 1, desired: 1, summary: "ClaimNotAllowed" });
    allow(fleet);
    await fleet.live(3_000);
    expect([fleet.conditions("a")[0], fleet.waitReason("n0")]).to.deep.equal(["Ready=True/AllReady", undefined]);
  });
});

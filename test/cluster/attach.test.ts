import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";
import type { AttachWorld } from "./attach-world.ts";
import { attachmentsPath, core, driver, startAttachWorld, storage } from "./attach-world.ts";

const source = (volumeHandle: string, more = {}) => ({ csi: { driver, volumeHandle, ...more } });

describe("attach and detach on a real API server", () => {
  let world: AttachWorld;
  before(async function () {
    prepare(this);
    world = await startAttachWorld("attach");
  });

  const only = async (volumeHandle: string) => {
    const all = await world.attachments();
    return all.filter((one) => JSON.stringify(one.spec.source).includes(`"${volumeHandle}"`));
  };

  it("grants after the attacher's word, names the attachment in the grant, and the grant on the attachment", async () => {
    await world.set("first", source("vol-1"), "a");
    await until("the attachment", 20_000, async () => (await only("vol-1")).length === 1);
    const [made] = await only("vol-1");
    expect(made?.metadata.name).to.match(/^nvi-[0-9a-f]{64}$/);
    expect(made?.metadata.annotations?.["nodevolume.dev/grant"]).to.equal(undefined);
    expect((await world.intents("first"))[0]?.spec.grant).to.equal(undefined);
    await world.attach(made?.metadata.name ?? "", { attached: true, attachmentMetadata: { device: "/dev/x" } });
    const { spec } = await world.granted("first");
    const [attached] = await only("vol-1");
    expect(spec.grant?.volumeAttachment).to.deep.equal({ name: made?.metadata.name, uid: made?.metadata.uid });
    expect(spec.grant?.publishContext).to.deep.equal({ device: "/dev/x" });
    expect(spec.grant?.csi).to.deep.include({ driver, volumeHandle: "vol-1", accessMode: "ReadWriteOnce" });
    expect(attached?.metadata.annotations?.["nodevolume.dev/grant"]).to.equal(spec.grant?.id);
  });

  it("a grant is not changed afterwards, by nobody", async () => {
    const { metadata } = await world.granted("first");
    const answer = await patch(world.admin, `${paths.intents}/${metadata.name}`, { spec: { grant: { id: "other" } } });
    expectStatus(422, answer);
  });

  it("detaches on the agent's acknowledgement alone, and lets the intent go when the attachment is gone", async () => {
    const granted = await world.granted("first");
    const name = granted.spec.grant?.volumeAttachment?.name ?? "";
    await world.admin.call("DELETE", "/apis/nodevolume.dev/v1alpha1/nodevolumesets/first");
    const path = `${paths.intents}/${granted.metadata.name}`;
    await until("the revocation", 20_000, async () => {
      const intent = await world.get(path);
      return (intent?.["metadata"] as { deletionTimestamp?: string } | undefined)?.deletionTimestamp !== undefined;
    });
    const revoked = (await world.intents("first"))[0];
    if (revoked === undefined) throw new Error("the intent is gone without an acknowledgement");
    // Of another grant, and of the generation before: neither is an acknowledgement.
    expectStatus(200, await world.acknowledge(revoked, { grantID: "another" }));
    expectStatus(200, await world.acknowledge(granted));
    const [before] = await only("vol-1");
    expect(before?.metadata.deletionTimestamp).to.equal(undefined);
    expectStatus(200, await world.acknowledge(revoked));
    await until("the detachment to begin", 20_000, async () => {
      return (await only("vol-1"))[0]?.metadata.deletionTimestamp !== undefined;
    });
    expect(await world.get(path)).not.to.equal(undefined);
    await world.detached(name);
    await until("the intent to be gone", 20_000, async () => (await world.get(path)) === undefined);
    expect(await only("vol-1")).to.deep.equal([]);
  });

  it("a second node waits for the first, and says for whom", async () => {
    await world.set("moved", source("vol-2"));
    await until("one attachment", 20_000, async () => (await only("vol-2")).length === 1);
    const [made] = await only("vol-2");
    await world.attach(made?.metadata.name ?? "");
    const first = await world.granted("moved");
    await until("the other to say so", 20_000, async () => {
      const other = (await world.intents("moved")).find(({ spec }) => spec.nodeName !== first.spec.nodeName);
      const { attach } = other?.status ?? {};
      return attach?.reason === "VolumeHeldElsewhere" && attach.on?.node === first.spec.nodeName;
    });
    expect(await only("vol-2")).to.have.length(1);
  });

  it("a LUN goes to a second node on the first one's acknowledgement alone", async () => {
    const lun = (targetPortal: string) => ({ iscsi: { targetPortal, iqn: "iqn.2026-01.example:disk", lun: 1 } });
    await world.set("lun-first", lun("san-1"), "a");
    const first = await world.granted("lun-first");
    await world.set("lun-second", lun("san-2"), "b");
    const second = async () => (await world.intents("lun-second"))[0];
    await until("the second to say so", 20_000, async () => {
      const { attach } = (await second())?.status ?? {};
      return attach?.reason === "VolumeHeldElsewhere" && attach.on?.node === first.spec.nodeName;
    });
    await world.admin.call("DELETE", "/apis/nodevolume.dev/v1alpha1/nodevolumesets/lun-first");
    const path = `${paths.intents}/${first.metadata.name}`;
    await until("the revocation", 20_000, async () => {
      const { metadata } = (await world.intents("lun-first"))[0] ?? {};
      return metadata?.deletionTimestamp !== undefined;
    });
    const [revoked] = await world.intents("lun-first");
    if (revoked === undefined) throw new Error("the intent is gone without an acknowledgement");
    expectStatus(200, await world.acknowledge(first)); // of the generation before: it is none
    expect((await second())?.spec.grant).to.equal(undefined);
    expectStatus(200, await world.acknowledge(revoked));
    expect((await world.granted("lun-second")).spec.grant?.csi).to.equal(undefined);
    expect(await world.get(path)).to.equal(undefined);
  });

  it("a LUN that two nodes find by two targets is written into one grant, once", async () => {
    const disk = "36001405abc0000000000000000000001";
    const target = (name: string) => ({ iscsi: { targetPortal: "san-1", iqn: `iqn.2026-01.example:${name}`, lun: 1 } });
    await world.set("target-one", target("one"), "a");
    await world.set("target-two", target("two"), "b");
    const intents = async () => [await world.granted("target-one"), await world.granted("target-two")] as const;
    const given = async () => (await intents()).map(({ spec }) => spec.grant?.disk);
    const [one, two] = await intents();
    expect(await given()).to.deep.equal(["", ""]);
    const found = { inUse: true, state: "Waiting", disk };
    expectStatus(200, await world.acknowledge(one, found));
    await until("the first to have the disk", 20_000, async () => (await given())[0] === disk);
    expectStatus(200, await world.acknowledge(two, found));
    await until("the second to say who has it", 20_000, async () => {
      const { attach } = (await world.granted("target-two")).status ?? {};
      return attach?.reason === "VolumeHeldElsewhere" && attach.on?.node === one.spec.nodeName;
    });
    expect(await given()).to.deep.equal([disk, ""]);
    const other = { spec: { grant: { disk: "36001405abc0000000000000000000002" } } };
    expectStatus(422, await patch(world.admin, `${paths.intents}/${one.metadata.name}`, other));
  });

  it("an agent that is to choose a disk is told whose volumes are attached to its node, once it asks", async () => {
    const [a, b] = world.nodes;
    const csi = { driver: "ebs.example", volumeHandle: "vol-0a1b2c3d4e5f" };
    const claimRef = { namespace: "db", name: "data", uid: "u" };
    const accessModes = ["ReadWriteOnce"];
    const pv = { metadata: { name: "pv-of-ebs" }, spec: { capacity: { storage: "1Gi" }, accessModes, csi, claimRef } };
    await world.create("/api/v1/persistentvolumes", { ...core("PersistentVolume", {}), ...pv });
    const names = { [a.name]: "csi-of-ebs", [b.name]: "csi-of-ebs-elsewhere" };
    for (const [nodeName, name] of Object.entries(names)) {
      const spec = { attacher: csi.driver, nodeName, source: { persistentVolumeName: pv.metadata.name } };
      await world.create(attachmentsPath, storage("VolumeAttachment", { metadata: { name }, spec }));
    }
    await world.set("empty-disk", { local: { disk: { transport: "nvme", empty: true } } }, "a");
    const intent = await world.granted("empty-disk");
    const asks = { inUse: true, state: "Waiting", attachmentsRequest: "1-1" };
    expectStatus(200, await world.acknowledge(intent, asks));
    const answer = async () => (await world.granted("empty-disk")).spec.grant?.attachments;
    /** But for what the tests before this one attached. */
    const ofTheDriver = async () => (await answer())?.volumes.filter(({ driver: of }) => of === csi.driver);
    await until("the answer", 20_000, async () => (await answer())?.request === "1-1");
    const whose = {
      driver: csi.driver,
      volumeHandle: csi.volumeHandle,
      persistentVolume: "pv-of-ebs",
      claim: "db/data",
    };
    expect(await ofTheDriver()).to.deep.equal([{ volumeAttachment: "csi-of-ebs", ...whose }]);
    for (const name of Object.values(names)) await world.admin.call("DELETE", `${attachmentsPath}/${name}`);
    expectStatus(200, await world.acknowledge(intent, { ...asks, attachmentsRequest: "1-2" }));
    await until("that nothing is attached", 20_000, async () => (await answer())?.request === "1-2");
    expect(await ofTheDriver()).to.deep.equal([]);
  });

  it("waits for an attachment that is not ours until it is gone", async () => {
    const [, b] = world.nodes;
    const inlineVolumeSpec = { accessModes: ["ReadWriteOnce"], csi: { driver, volumeHandle: "vol-3" } };
    const metadata = { name: "csi-of-another" };
    const spec = { attacher: driver, nodeName: b.name, source: { inlineVolumeSpec } };
    await world.create(attachmentsPath, storage("VolumeAttachment", { metadata, spec }));
    await world.set("late", source("vol-3"), "a");
    await until("the reason", 20_000, async () => {
      return (await world.intents("late"))[0]?.status?.attach?.reason === "ForeignAttachment";
    });
    expect(await only("vol-3")).to.have.length(1);
    await world.admin.call("DELETE", `${attachmentsPath}/csi-of-another`);
    await until("ours", 20_000, async () => (await only("vol-3"))[0]?.metadata.name.startsWith("nvi-") === true);
  });

  it("needs no attachment where the driver says so", async () => {
    const name = "bind.example";
    await world.create(
      "/apis/storage.k8s.io/v1/csidrivers",
      storage("CSIDriver", { metadata: { name }, spec: { attachRequired: false } }),
    );
    await world.set("bound", { csi: { driver: name, volumeHandle: "vol-4", accessMode: "ReadWriteMany" } });
    await until("both grants", 20_000, async () => {
      return (await world.intents("bound")).filter(({ spec }) => spec.grant !== undefined).length === 2;
    });
    expect(await only("vol-4")).to.deep.equal([]);
  });

  it("the controller makes no pod, though it may ask whether one would be admitted", async () => {
    const controller = world.cluster.as(await world.cluster.token("nodevolume-controller"));
    const containers = [{ name: "c", image: "nothing" }];
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers } };
    const pods = "/api/v1/namespaces/default/pods";
    expectRefused(await controller.call("POST", pods, { body }), "has none made");
    expectStatus(201, await controller.call("POST", `${pods}?dryRun=All`, { body }));
  });
});

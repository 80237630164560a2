import { expect } from "chai";
import { attachmentName } from "../../../../src/controller/attach/attachment-name.ts";
import type { FakeObject } from "../../fake-api-objects.ts";
import { ours as inline, rawPod } from "../pods/pod-objects.ts";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const source = { csi: { driver, volumeHandle: "vol-1" } };

describe("the controller and volumes of CSI drivers", () => {
  it("grants at once what needs no attachment", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { attachRequired: false } });
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.intent("n0").spec.grant?.csi).to.deep.equal({
      driver,
      volumeHandle: "vol-1",
      accessMode: "ReadWriteOnce",
      supportsFSGroup: false,
    });
    expect(fleet.attachments()).to.deep.equal([]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("attaches nothing for who only observes", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.csiSet("a", source, { mode: "Observe" });
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.intent("n0").spec.mode).to.equal("Observe");
    expect([fleet.granted(), fleet.attachments()]).to.deep.equal([[], []]);
  });

  it("says in the grant what the CSIDriver asks for, and grants nothing of a driver that is for pods alone", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const spec = { attachRequired: false, volumeLifecycleModes: ["Ephemeral"] };
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec });
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.waitReason("n0")).to.equal(`LifecycleModeUnsupported ${driver}`);
    expect(fleet.intent("n0").spec.grant).to.equal(undefined);
    const asks = { requiresRepublish: true, podInfoOnMount: true };
    const both = { ...spec, volumeLifecycleModes: ["Persistent", "Ephemeral"], ...asks };
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: both });
    await fleet.live(2_000);
    expect(fleet.intent("n0").spec.grant?.csi).to.include(asks);
  });

  it("says in the grant which tokens of pods the driver needs, once kubelet hands them over, to pods alone", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const tokenRequests = [{ audience: "vault" }, { audience: "aws", expirationSeconds: 600 }];
    const spec = { attachRequired: false, tokenRequests, serviceAccountTokenInSecrets: true };
    fleet.api.apply("csidrivers", { metadata: { name: driver }, spec });
    const ours = (audiences: readonly string[]) => {
      const asks = audiences.map((audience) => ({ audience }));
      fleet.api.apply("csidrivers", { metadata: { name: "csi.nodevolume.dev" }, spec: { tokenRequests: asks } });
    };
    ours(["vault"]);
    fleet.api.apply("namespaces", { metadata: { name: "team" } });
    fleet.csiSet("a", source, { mounts: [], allowedNamespaces: { names: ["team"] } });
    const { metadata, ...rest } = rawPod("team/p", { node: "n0", volumes: [inline({ set: "a" })] });
    fleet.api.apply("pods", { ...rest, metadata: { name: metadata.name, namespace: "team" } } as FakeObject);
    fleet.start();
    await fleet.live(2_000);
    expect(fleet.waitReason("n0")).to.equal("PerPodIdentity csi.nodevolume.dev");
    expect(fleet.intent("n0").spec.grant).to.equal(undefined);
    ours(["aws", "vault"]);
    await fleet.live(2_000);
    const asks = { tokenAudiences: ["vault", "aws"], serviceAccountTokenInSecrets: true };
    expect(fleet.intent("n0").spec.grant?.csi).to.deep.include(asks);
    ours([]); // a grant never changes
    await fleet.live(2_000);
    expect(fleet.intent("n0").spec.grant?.csi).to.deep.include(asks);
  });

  it("attaches, then grants with what the driver said; releases, then detaches, then lets the intent go", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.attacher.metadata = { devicePath: "/dev/x" };
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(2_000);
    const { grant } = fleet.intent("n0").spec;
    const [attachment] = fleet.attachments();
    expect(attachment?.metadata.name).to.equal(attachmentName({ driver, volumeHandle: "vol-1" }, "n0"));
    expect(attachment?.metadata.annotations?.["nodevolume.dev/grant"]).to.equal(grant?.id);
    expect(grant?.volumeAttachment).to.deep.equal({ name: attachment?.metadata.name, uid: attachment?.metadata.uid });
    expect(grant?.publishContext).to.deep.equal({ devicePath: "/dev/x" });

    fleet.stubborn.add("n0");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(60_000);
    expect(fleet.attachments()[0]?.metadata.deletionTimestamp).to.equal(undefined);
    expect(fleet.intents()).to.have.length(1);

    fleet.attacher.paused.add("detach");
    fleet.stubborn.clear();
    await fleet.live(3_000);
    expect(fleet.attachments()[0]?.metadata.deletionTimestamp).not.to.equal(undefined);
    expect(fleet.intents()).to.have.length(1);
    expect(fleet.waitReason("n0")).to.equal("Detaching n0");

    fleet.attacher.paused.clear();
    await fleet.live(2_000);
    expect(fleet.attachments()).to.deep.equal([]);
    expect(fleet.intents()).to.deep.equal([]);
    expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
  });
});

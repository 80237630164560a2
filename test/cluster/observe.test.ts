import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";
import type { AttachWorld } from "./attach-world.ts";
import { attachmentsPath, core, driver, startAttachWorld, storage } from "./attach-world.ts";

const namespace = "observe";
const inNamespace = `/api/v1/namespaces/${namespace}`;
const claimsPath = `${inNamespace}/persistentvolumeclaims`;
const podsPath = `${inNamespace}/pods`;

/** Neither a scheduler, a kubelet nor kube-controller-manager runs: what they write the test writes. */
describe("claims that kubelet manages, on a real API server", () => {
  let world: AttachWorld;
  before(async function () {
    prepare(this);
    world = await startAttachWorld("observe");
    await world.create("/api/v1/namespaces", core("Namespace", { metadata: { name: namespace } }));
    await world.create(`${inNamespace}/serviceaccounts`, core("ServiceAccount", { metadata: { name: "default" } }));
    const accessModes = ["ReadWriteOnce"];
    const resources = { requests: { storage: "1Gi" } };
    const spec = { accessModes, resources, storageClassName: "observe-slow" };
    await world.create(claimsPath, core("PersistentVolumeClaim", { metadata: { name: "data" }, spec }));
    const binding = { provisioner: driver, volumeBindingMode: "WaitForFirstConsumer" };
    const classes = "/apis/storage.k8s.io/v1/storageclasses";
    await world.create(classes, storage("StorageClass", { metadata: { name: "observe-slow" }, ...binding }));
  });

  async function pod(name: string, node: 0 | 1): Promise<void> {
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    const containers = [{ name: "c", image: "nothing", volumeMounts: [{ name: "v", mountPath: "/data" }] }];
    const spec = { nodeName: world.nodes[node].name, containers, volumes };
    await world.create(podsPath, core("Pod", { metadata: { name }, spec }));
  }

  async function bind(): Promise<void> {
    const claim = (await world.get(`${claimsPath}/data`)) as { metadata: { uid: string } };
    const claimRef = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace,
      name: "data",
      uid: claim.metadata.uid,
    };
    const csi = { driver, volumeHandle: "observe-1" };
    const volume = {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi,
      claimRef,
      storageClassName: "observe-slow",
    };
    await world.create(
      "/api/v1/persistentvolumes",
      core("PersistentVolume", { metadata: { name: "observe-data" }, spec: volume }),
    );
    expectStatus(200, await patch(world.admin, `${claimsPath}/data`, { spec: { volumeName: "observe-data" } }));
    expectStatus(200, await patch(world.admin, `${claimsPath}/data/status`, { status: { phase: "Bound" } }));
  }

  async function attachment(name: string, node: 0 | 1): Promise<void> {
    const source = { persistentVolumeName: "observe-data" };
    const spec = { attacher: driver, nodeName: world.nodes[node].name, source };
    await world.create(attachmentsPath, storage("VolumeAttachment", { metadata: { name }, spec }));
  }

  async function observed(node: 0 | 1): Promise<NodeVolumeIntent | undefined> {
    const { name } = world.nodes[node];
    const { body } = await world.admin.call("GET", `${paths.intents}?fieldSelector=spec.nodeName=${name}`);
    return (body["items"] as NodeVolumeIntent[]).find(({ spec }) => spec.observed !== undefined);
  }
  const says = (reason: string | undefined, node: 0 | 1 = 0) =>
    until(`${reason}`, 20_000, async () => {
      const intent = await observed(node);
      return intent !== undefined && intent.status?.attach?.reason === reason;
    });

  it("has an intent as soon as a pod is on the node, without grant and finalizer, with the claim's words", async () => {
    await pod("web-0", 0);
    await says("ClaimNotBound");
    const intent = await observed(0);
    expect(intent?.metadata.finalizers).to.equal(undefined);
    expect(intent?.spec).to.deep.include({ mode: "Observe", mounts: [] });
    expect(intent?.spec.pods?.map(({ name, volume }) => `${name} ${volume}`)).to.deep.equal(["web-0 v"]);
    expect(intent?.status?.attach?.message).to.contain("first consumer").and.to.contain(driver);
  });

  it("names the volume once the claim is bound, and waits for its VolumeAttachment, which it does not make", async () => {
    await bind();
    await says("WaitingForAttach");
    const { spec } = (await observed(0)) as NodeVolumeIntent;
    const names = { volumeName: "observe-data", driver, volumeHandle: "observe-1", attachRequired: true };
    expect(spec.observed).to.deep.equal({ plugin: "kubernetes.io/csi", ...names });
    expect(await world.attachments()).to.deep.equal([]);
    const claim = (await world.get(`${claimsPath}/data`)) as { metadata: { labels?: object; finalizers: string[] } };
    expect(claim.metadata.labels, "the claim stays its pods'").to.equal(undefined);
    expect(claim.metadata.finalizers).to.deep.equal(["kubernetes.io/pvc-protection"]);
  });

  it("says in the driver's words why it is not attached, and nothing but its name when it is", async () => {
    await attachment("csi-0", 0);
    await world.attach("csi-0", { attached: false, attachError: { message: "no such disk in zone b" } });
    await says("AttachFailed");
    expect((await observed(0))?.status?.attach?.message).to.equal("no such disk in zone b");
    await world.attach("csi-0", { attached: true, attachError: null });
    await says(undefined);
    expect((await observed(0))?.status?.attach).to.deep.equal({ volumeAttachment: "csi-0" });
  });

  it("names the pod and the node that have the volume (Multi-Attach)", async () => {
    await pod("web-1", 1);
    await says("VolumeHeldElsewhere", 1);
    const attach = (await observed(1))?.status?.attach;
    expect(attach?.on).to.deep.equal({ kind: "Pod", namespace, name: "web-0", node: world.nodes[0].name });
    expect(attach?.message).to.contain("csi-0");
  });

  it("goes with the last pod, at once, although no agent runs; to delete it by hand does nothing but bring it back", async () => {
    const first = await observed(1);
    await world.admin.call("DELETE", `${paths.intents}/${first?.metadata.name}`);
    await until("another", 20_000, async () => {
      const now = (await observed(1))?.metadata.uid;
      return now !== undefined && now !== first?.metadata.uid;
    });
    await world.admin.call("DELETE", `${podsPath}/web-1?gracePeriodSeconds=0`);
    await until("its end", 20_000, async () => (await observed(1)) === undefined);
    expect(await observed(0), "of the other node").not.to.equal(undefined);
  });
});

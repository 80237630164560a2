import type { ApiClient } from "../../hack/lib/api-client.ts";
import { attachmentName } from "../../src/controller/attach/attachment-name.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch } from "../lib/cluster/policy-world.ts";

const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
const driver = "policy-attachments.example.com";
const nodeName = "policy-attachments";
const own = attachmentName({ driver, volumeHandle: "1" }, nodeName);
/** As kube-controller-manager names those of pods. */
const ofPod = `csi-${"ab".repeat(32)}`;

const attachment = (name: string, metadata: object = {}) => {
  const source = { persistentVolumeName: "policy-attachments" };
  return { metadata: { name, ...metadata }, spec: { attacher: driver, nodeName, source } };
};

/** As the controller's stolen token would be used: what pods have attached is not on nodes by us. */
describe("policy of what the controller writes of VolumeAttachments", () => {
  let cluster: TestCluster;
  let controller: ApiClient;
  const attachers = { finalizers: [`external-attacher/${driver.replaceAll(".", "-")}`] };
  const made = { "nodevolume.dev/intent": "i", "nodevolume.dev/volume-handle": "1" };
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "11111111-2222-3333-4444-555555555555" };

  before(async function () {
    cluster = await testCluster(this);
    controller = cluster.as(await cluster.token("nodevolume-controller"));
    const body = attachment(ofPod, { ...attachers, annotations: { a: "b" } });
    expectStatus(201, await cluster.admin.call("POST", attachments, { body }));
    const ours = attachment(own, { annotations: made });
    expectStatus(201, await controller.call("POST", attachments, { body: ours }));
    expectStatus(200, await patch(cluster.admin, `${attachments}/${own}`, { metadata: attachers }));
  });
  after(async () => {
    for (const name of [own, ofPod]) {
      await patch(cluster.admin, `${attachments}/${name}`, { metadata: { finalizers: null } });
      await cluster.admin.call("DELETE", `${attachments}/${name}`);
    }
  });

  it("marks one of its own with a grant, with another one, and deletes it", async () => {
    const grant = (id: string) => ({ metadata: { annotations: { "nodevolume.dev/grant": id } } });
    for (const id of ["g1", "g2"]) expectStatus(200, await patch(controller, `${attachments}/${own}`, grant(id)));
    expectStatus(200, await controller.call("DELETE", `${attachments}/${own}?dryRun=All`));
  });

  it("makes none by another name", async () => {
    const digest = own.slice("nvi-".length);
    for (const name of [`csi-${digest}`, `nvi-${digest}0`, `nvi-${digest.slice(1)}`, `nvi-${"g".repeat(64)}`]) {
      const answer = await controller.call("POST", `${attachments}?dryRun=All`, { body: attachment(name) });
      expectRefused(answer, `${name} is not named so`);
    }
  });

  it("deletes and changes none of a pod", async () => {
    const path = `${attachments}/${ofPod}`;
    expectRefused(await controller.call("DELETE", path), `${ofPod} is not named so`);
    for (const metadata of [{ annotations: { "nodevolume.dev/grant": "g" } }, { finalizers: null }]) {
      expectRefused(await patch(controller, path, { metadata }), `${ofPod} is not named so`);
    }
  });

  const refused: readonly [what: string, metadata: object, says: string][] = [
    ["the external-attacher's finalizer", { finalizers: null }, "no finalizer"],
    ["a finalizer more", { finalizers: [...attachers.finalizers, "example.com/mine"] }, "no finalizer"],
    ["an owner, with whom it goes", { ownerReferences: [owner] }, "no finalizer, owner"],
    ["a label", { labels: { a: "b" } }, "no finalizer, owner or label"],
    ["what it was made for", { annotations: { "nodevolume.dev/volume-handle": "2" } }, "no other annotation"],
    ["an annotation more", { annotations: { a: "b" } }, "no other annotation"],
    ["an annotation off", { annotations: { "nodevolume.dev/intent": null } }, "takes none off"],
  ];
  for (const [what, metadata, says] of refused) {
    it(`changes of its own not ${what}`, async () => {
      expectRefused(await patch(controller, `${attachments}/${own}`, { metadata }), says);
    });
  }

  it("keeps nobody else from any of it", async () => {
    const path = `${attachments}/${ofPod}`;
    expectStatus(200, await patch(cluster.admin, `${path}?dryRun=All`, { metadata: { finalizers: null } }));
    expectStatus(200, await cluster.admin.call("DELETE", `${path}?dryRun=All`));
    const body = attachment("another");
    expectStatus(201, await cluster.admin.call("POST", `${attachments}?dryRun=All`, { body }));
  });
});

import { expect } from "chai";
import { allowing } from "../../hack/lib/allowing.ts";
import type { ApiClient } from "../../hack/lib/api-client.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch } from "../lib/cluster/policy-world.ts";

const namespace = "claim-writes";
const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const classes = "/apis/storage.k8s.io/v1/storageclasses";
const className = "claim-writes";
const volumes = "/api/v1/persistentvolumes";
const [bound, unbound, volume] = [`${claims}/bound`, `${claims}/unbound`, `${volumes}/of-another-system`];

/**
 * As the controller's stolen token would be used: the data of other systems is not on nodes, so intents give nobody
 * that.
 */
describe("policy of what the controller writes of claims and PersistentVolumes", () => {
  let cluster: TestCluster;
  let controller: ApiClient;

  before(async function () {
    cluster = await testCluster(this);
    controller = cluster.as(await cluster.token("nodevolume-controller"));
    const { admin } = cluster;
    await admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
    // Another admission plugin refuses a new size where nobody could give it.
    const body = { metadata: { name: className }, provisioner: "d.example.com", allowVolumeExpansion: true };
    expectStatus(201, await admin.call("POST", classes, { body }));
    const access = { accessModes: ["ReadWriteOnce"], storageClassName: className };
    const claim = (name: string, spec: object) => ({
      metadata: {
        name,
        labels: { app: "db" },
        annotations: { team: "a" },
        finalizers: ["kubernetes.io/pvc-protection"],
      },
      spec: { ...access, resources: { requests: { storage: "2Gi" } }, ...spec },
    });
    expectStatus(201, await admin.call("POST", claims, { body: claim("unbound", {}) }));
    const made = await admin.call("POST", claims, { body: claim("bound", { volumeName: "of-another-system" }) });
    expectStatus(201, made);
    const { uid } = made.body["metadata"] as { uid: string };
    const volumeOf = {
      metadata: { name: "of-another-system", labels: { app: "db" }, finalizers: ["kubernetes.io/pv-protection"] },
      spec: {
        ...{ ...access, capacity: { storage: "2Gi" }, persistentVolumeReclaimPolicy: "Retain" },
        claimRef: { namespace, name: "bound", uid },
        csi: { driver: "d.example.com", volumeHandle: "1" },
      },
    };
    expectStatus(201, await admin.call("POST", volumes, { body: volumeOf }));
    expectStatus(200, await patch(admin, `${bound}/status`, { status }));
  });
  after(async () => {
    for (const path of [bound, unbound, volume]) {
      await patch(cluster.admin, path, { metadata: { finalizers: null } });
      await cluster.admin.call("DELETE", path);
    }
    await cluster.admin.call("DELETE", `${classes}/${className}`);
  });

  const condition = (type: string) => ({ type, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" });
  const modifying = condition("ModifyVolumeError");
  const status = {
    ...{ phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
    conditions: [modifying, condition("FileSystemResizePending")],
    allocatedResources: { storage: "2Gi" },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
  };
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "11111111-2222-3333-4444-555555555555" };

  it("sets and clears the controller's marks on both", async () => {
    const [ofClaim, ofVolume] = ["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"];
    const taken = { labels: { "nodevolume.dev/held": "" }, finalizers: [ofClaim, "nodevolume.dev/in-use"] };
    expectStatus(200, await patch(controller, bound, { metadata: taken }));
    const left = { labels: { "nodevolume.dev/held": null }, finalizers: [ofClaim] };
    expectStatus(200, await patch(controller, bound, { metadata: left }));
    const kept = { finalizers: [ofVolume, "nodevolume.dev/in-use"] };
    expectStatus(200, await patch(controller, volume, { metadata: kept }));
    expectStatus(200, await patch(controller, volume, { metadata: { finalizers: [ofVolume] } }));
  });

  it("takes marks off a PersistentVolume that it could not set, and sets none", async () => {
    const { admin } = cluster;
    const metadata = { name: "claim-writes-host-path", finalizers: ["kubernetes.io/pv-protection"] };
    const [capacity, accessModes] = [{ storage: "2Gi" }, ["ReadWriteOnce"]];
    const path = `${volumes}/${metadata.name}`;
    const marks = {
      labels: { "nodevolume.dev/held": "" },
      finalizers: [...metadata.finalizers, "nodevolume.dev/in-use"],
    };
    const body = { metadata, spec: { capacity, accessModes, hostPath: { path: "/x" } } };
    expectStatus(201, await admin.call("POST", volumes, { body }));
    try {
      const keep = { metadata: { finalizers: marks.finalizers } };
      expectRefused(await patch(controller, path, keep), "only if it is of a CSI driver");
      // As a person who may write intents can.
      expectStatus(200, await patch(admin, path, { metadata: marks }));
      const off = { labels: { "nodevolume.dev/held": null }, finalizers: metadata.finalizers };
      expectStatus(200, await patch(controller, path, { metadata: off }));
    } finally {
      await patch(admin, path, { metadata: { finalizers: null } });
      await admin.call("DELETE", path);
    }
  });

  it("chooses a node for a claim that is not bound and has none, and takes none away", async () => {
    const choose = (path: string, node: string | null) =>
      patch(controller, path, { metadata: { annotations: { "volume.kubernetes.io/selected-node": node } } });
    expectRefused(await choose(bound, "n1"), "chooses a node for a claim that has none");
    expectRefused(await choose(volume, "n1"), "chooses a node for a claim that has none");
    expectStatus(200, await choose(unbound, "n1"));
    expectRefused(await choose(unbound, "n2"), "chooses a node for a claim that has none");
    expectRefused(await choose(unbound, null), "chooses a node for a claim that has none");
  });

  it("says how the growth of a claim stands", async () => {
    const failed = { conditions: [modifying, condition("FileSystemResizePending"), condition("NodeResizeError")] };
    const under = { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } };
    expectStatus(200, await patch(controller, `${bound}/status`, { status: { ...failed, ...under } }));
    const never = { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } };
    expectStatus(200, await patch(controller, `${bound}/status`, { status: never }));
    const done = { capacity: { storage: "2Gi" }, conditions: [modifying], allocatedResourceStatuses: null };
    expectStatus(200, await patch(controller, `${bound}/status`, { status: done }));
  });

  const refused: readonly [what: string, path: string, change: object, says: string][] = [
    ["a label of a claim", bound, { metadata: { labels: { owner: "evil" } } }, "no other label"],
    ["a label off a claim", bound, { metadata: { labels: { app: null } } }, "no other label"],
    ["the label reserved", unbound, { metadata: { labels: { "nodevolume.dev/reserved": "" } } }, "no other label"],
    ["consent to a set", unbound, { metadata: { labels: allowing("archive") } }, "no other label"],
    ["consent to a set by way of status", `${bound}/status`, { metadata: { labels: allowing("a") } }, "no other label"],
    ["an annotation of a claim", bound, { metadata: { annotations: { team: "b" } } }, "no annotation"],
    ["an owner of a claim, by whom it is deleted", bound, { metadata: { ownerReferences: [owner] } }, "no owner"],
    ["pvc-protection off", bound, { metadata: { finalizers: [] } }, "no other finalizer"],
    ["another finalizer", unbound, { metadata: { finalizers: ["example.com/mine"] } }, "no other finalizer"],
    ["the size of a claim", bound, { spec: { resources: { requests: { storage: "9Gi" } } } }, "nothing in the spec"],
    ["the volume of a claim", unbound, { spec: { volumeName: "of-another-system" } }, "nothing in the spec"],
    ["reclaim policy Delete", volume, { spec: { persistentVolumeReclaimPolicy: "Delete" } }, "nothing in the spec"],
    ["the claim of a volume", volume, { spec: { claimRef: { name: "gone", uid: owner.uid } } }, "nothing in the spec"],
    ["no claim of a volume", volume, { spec: { claimRef: null } }, "nothing in the spec"],
    ["an owner of a volume", volume, { metadata: { ownerReferences: [owner] } }, "no owner"],
    ["the label held of a volume", volume, { metadata: { labels: { "nodevolume.dev/held": "" } } }, "and no Persis"],
    ["pv-protection off", volume, { metadata: { finalizers: [] } }, "no other finalizer"],
    ["a label of a volume", volume, { metadata: { labels: { app: "x" } } }, "no other label"],
    ["the phase of a claim", `${bound}/status`, { status: { phase: "Lost" } }, "how its growth stands"],
    ["its access modes", `${bound}/status`, { status: { accessModes: ["ReadWriteMany"] } }, "how its growth stands"],
    ["what was allocated", `${bound}/status`, { status: { allocatedResources: null } }, "how its growth stands"],
    ["another condition", `${bound}/status`, { status: { conditions: [] } }, "how its growth stands"],
    ["a smaller capacity", `${bound}/status`, { status: { capacity: { storage: "1Mi" } } }, "no smaller"],
    ["no capacity", `${bound}/status`, { status: { capacity: null } }, "no smaller"],
    [
      "a state of the controller",
      `${bound}/status`,
      { status: { allocatedResourceStatuses: { storage: "ControllerResizeInProgress" } } },
      "no smaller",
    ],
    ["labels by way of status", `${bound}/status`, { metadata: { labels: { owner: "evil" } } }, "no other label"],
    ["finalizers by way of status", `${bound}/status`, { metadata: { finalizers: [] } }, "no other finalizer"],
  ];
  for (const [what, path, change, says] of refused) {
    it(`refuses ${what}`, async () => {
      expectRefused(await patch(controller, path, change), says);
    });
  }

  it("keeps nobody else from any of it", async () => {
    for (const [what, path, change] of refused.filter(([, path]) => path !== volume && !path.endsWith("/status"))) {
      const answer = await cluster.admin.call("PATCH", `${path}?dryRun=All`, {
        ...{ contentType: "application/merge-patch+json", body: change },
      });
      expect(String(answer.body["message"] ?? ""), what).not.to.include("nodevolume-claim-writes");
    }
  });
});

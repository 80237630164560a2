import { expect } from "chai";
import type { ApiClient } from "../../hack/lib/api-client.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, movedAccount, patch } from "../lib/cluster/policy-world.ts";

const name = "shows-readiness";
const path = `/api/v1/nodes/${name}`;
const ours = { key: "nodevolume.dev/not-ready", effect: "NoSchedule" };
const foreign = { key: "example.com/gpu", value: "a100", effect: "NoSchedule" };
const condition = (type: string, status = "False") => ({ type, status, reason: "AgentLost", message: "" });
const kubelets = condition("Ready", "True");

describe("policy of what the controller shows on Nodes", () => {
  let cluster: TestCluster;
  let controller: ApiClient;

  before(async function () {
    cluster = await testCluster(this);
    controller = cluster.as(await cluster.token("nodevolume-controller"));
    await createNodeObject(cluster.admin, name, { zone: "a" });
    expectStatus(200, await patch(cluster.admin, path, { spec: { taints: [foreign], podCIDR: "10.1.0.0/24" } }));
    const status = { conditions: [kubelets], capacity: { cpu: "2" }, allocatable: { cpu: "2" } };
    expectStatus(200, await patch(cluster.admin, `${path}/status`, { status }));
  });
  after(() => cluster?.admin.call("DELETE", path));

  const taints = (...list: object[]) => patch(controller, path, { spec: { taints: list } });
  const conditions = (...list: object[]) => patch(controller, `${path}/status`, { status: { conditions: list } });

  it("its own taint comes and goes, beside those of others", async () => {
    expectStatus(200, await taints(foreign, ours));
    expectStatus(200, await taints(foreign));
  });

  it("no other taint comes, changes or goes, and ours evicts nobody", async () => {
    expectRefused(await taints(), "changes no other taint");
    expectRefused(await taints(ours), "changes no other taint");
    expectRefused(await taints({ ...foreign, value: "h100" }), "changes no other taint");
    expectRefused(await taints(foreign, { key: "example.com/other", effect: "NoSchedule" }), "changes no other taint");
    expectRefused(await taints(foreign, { ...ours, effect: "NoExecute" }), "NoSchedule alone");
  });

  // What kustomize makes of an overlay with `namespace: storage-system`: the account moves, and the policies are as
  // they were.
  it("no other taint comes from a controller's account in another namespace", async () => {
    await using account = await movedAccount(cluster, "nodevolume-controller", "storage-system");
    const moved = await account.client();
    const allowed = async () => (await patch(moved, path, { spec: { taints: [foreign] } })).status === 200;
    await until("the account to have its rights", 10_000, allowed);
    const spec = { taints: [foreign, { key: "example.com/other", effect: "NoExecute" }] };
    expectRefused(await patch(moved, path, { spec }), "changes no other taint");
    expectRefused(await patch(moved, path, { metadata: { labels: { zone: "b" } } }), "changes nothing in the metadata");
  });

  it("a taint of ours that kubelet registered the Node with goes, whatever its effect", async () => {
    const registered = { ...ours, effect: "NoExecute" };
    expectStatus(200, await patch(cluster.admin, path, { spec: { taints: [foreign, registered] } }));
    expectStatus(200, await taints(foreign));
  });

  const other: [what: string, change: object][] = [
    ["unschedulable", { spec: { unschedulable: true } }],
    ["its provider's id", { spec: { providerID: "example://1" } }],
    ["a label", { metadata: { labels: { zone: "b" } } }],
    ["an annotation", { metadata: { annotations: { "example.com/a": "b" } } }],
    ["a finalizer", { metadata: { finalizers: ["example.com/held"] } }],
  ];
  for (const [what, change] of other) {
    it(`${what} of a Node is not the controller's`, async () => {
      expectRefused(await patch(controller, path, change), "changes");
    });
  }

  it("its own condition comes, changes and goes, beside those of others", async () => {
    expectStatus(200, await conditions(kubelets, condition("NodeVolumesReady")));
    expectStatus(200, await conditions(kubelets, condition("NodeVolumesReady", "True")));
    expectStatus(200, await conditions(kubelets));
  });

  it("no other condition comes, changes or goes, and nothing else of the status or by way of it", async () => {
    expectRefused(await conditions(), "changes no other condition");
    expectRefused(await conditions({ ...kubelets, status: "False" }), "changes no other condition");
    expectRefused(await conditions(kubelets, condition("DiskPressure")), "changes no other condition");
    const status = (change: object) => patch(controller, `${path}/status`, { status: change });
    expectRefused(await status({ allocatable: { cpu: "64" } }), "nothing else of its status");
    expectRefused(await status({ volumesInUse: ["a"] }), "nothing else of its status");
    expectRefused(await status({ capacity: null, allocatable: null }), "nothing else of its status");
    const labels = { metadata: { labels: { zone: "b" } } };
    expectRefused(await patch(controller, `${path}/status`, labels), "nothing in the metadata");
  });

  it("does not stand in the way of others, and the Node is what it was", async () => {
    expectStatus(200, await patch(cluster.people, path, { metadata: { labels: { zone: "c" } } }));
    const { body } = await cluster.admin.call("GET", path);
    const { spec, status } = body as { spec: { taints: object[] }; status: { conditions: { type: string }[] } };
    expect(spec.taints).to.deep.equal([foreign]);
    expect(status.conditions.map(({ type }) => type)).to.deep.equal(["Ready"]);
  });
});

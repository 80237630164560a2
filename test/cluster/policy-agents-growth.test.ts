import { expect } from "chai";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import {
  expectRefused,
  expectStatus,
  leaseOf,
  type PolicyWorld,
  patch,
  paths,
  policyWorld,
} from "../lib/cluster/policy-world.ts";

/** An entry of managedFields that has labels. */
interface Managed {
  readonly manager: string;
  readonly fieldsV1: { readonly "f:metadata": { readonly "f:labels": object } };
}

describe("policy of an agent: what it may grow", () => {
  let cluster: TestCluster;
  let world: PolicyWorld;

  before(async function () {
    cluster = await testCluster(this);
    world = await policyWorld(cluster, "agent-growth");
  });
  after(() => world?.remove());

  const intent = () => `${paths.intents}/${world.intents.own}`;
  const events = "/api/v1/namespaces/default/events";
  const eventOf = (name: string) => ({
    metadata: { namespace: "default", name },
    involvedObject: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeState", name: world.own.name },
    type: "Warning",
    reason: "Drifted",
    message: "somebody unmounted it",
    source: { component: "nodevolume-agent", host: world.own.name },
    reportingComponent: "nodevolume-agent",
  });

  it("is refused Events as large as etcd takes, by whatever field", async () => {
    const body = eventOf("agent-growth.large");
    const text = "x".repeat(1_000_000);
    const { involvedObject } = body;
    const large = [
      { reason: "x".repeat(129) },
      { reason: text },
      { action: text },
      { type: text },
      { reportingInstance: text },
      { related: { kind: "Pod", name: text } },
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
      ...["uid", "resourceVersion", "fieldPath"].map((key) => ({ involvedObject: { ...involvedObject, [key]: text } })),
      { involvedObject: { ...involvedObject, apiVersion: `nodevolume.dev/${text}` } },
    ];
    for (const more of large) {
      const answer = await world.agent.call("POST", events, { body: { ...body, ...more } });
      expectRefused(answer, "with a reason of at most 128 characters");
    }
  });

  /** As an API server gives it, but for what the object does not have. */
  const invented = (fields: object) => ({
    manager: "me",
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: fields,
  });

  it("is refused managedFields of its own making in Leases and Events, which would be kept", async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f:invented-${n}`, {}]));
    const body = eventOf("agent-growth.managed");
    for (const fields of [many, { "f:message": many }, { "f:source": { "f:host": many } }]) {
      const metadata = { ...body.metadata, managedFields: [invented(fields)] };
      expectRefused(await world.agent.call("POST", events, { body: { ...body, metadata } }), "no managedFields");
    }
    const lease = `${paths.leases}/${world.own.name}`;
    await cluster.admin.call("POST", paths.leases, { body: leaseOf(world.own.name) }); // unless it is there
    const now = (await cluster.admin.call("GET", lease)).body;
    const apiVersion = "coordination.k8s.io/v1";
    const ancient = { ...invented({ "f:metadata": { "f:labels": many } }), manager: "ancient-changes" };
    for (const entry of [invented({ "f:spec": many }), ancient]) {
      const metadata = { ...(now["metadata"] as object), managedFields: [{ ...entry, apiVersion }] };
      expectRefused(await world.agent.call("PUT", lease, { body: { ...now, metadata } }), "no managedFields");
    }
  });

  it("renews a Lease with a label of each of more managers than the API server keeps: it merges the oldest", async () => {
    const lease = `${paths.leases}/${world.own.name}`;
    await cluster.admin.call("DELETE", lease);
    const by = (manager: string) => `?fieldManager=${manager}`;
    const body = leaseOf(world.own.name);
    expectStatus(201, await cluster.admin.call("POST", `${paths.leases}${by("maker")}`, { body }));
    for (let n = 0; n < 12; n += 1) {
      const labels = { metadata: { labels: { [`label-${n}`]: "" } } };
      expectStatus(200, await patch(cluster.admin, `${lease}${by(`labeller-${n}`)}`, labels));
    }
    /** What the merged entry has, of so many entries in all. */
    const merged = async () => {
      const { metadata } = (await cluster.admin.call("GET", lease)).body as { metadata: { managedFields: Managed[] } };
      const ancient = metadata.managedFields.find(({ manager }) => manager === "ancient-changes");
      return { entries: metadata.managedFields.length, labels: ancient?.fieldsV1["f:metadata"]["f:labels"] ?? {} };
    };
    const before = await merged();
    expect(before.entries).to.equal(10);
    for (const minute of ["00", "01"]) {
      const now = (await cluster.admin.call("GET", lease)).body;
      const spec = { ...(now["spec"] as object), renewTime: `2026-01-01T00:${minute}:00.000000Z` };
      const put = { body: { ...now, spec } };
      expectStatus(200, await world.agent.call("PUT", `${lease}${by("nodevolume-agent")}`, put));
    }
    const after = await merged();
    expect(after.entries).to.equal(10);
    expect(Object.keys(after.labels), "merged by the agent's write").to.have.length.above(
      Object.keys(before.labels).length,
    );
    await cluster.admin.call("DELETE", lease);
  });

  it("renews a Lease that somebody has made and labelled, and whose fields of it become the agent's", async () => {
    const lease = `${paths.leases}/${world.own.name}`;
    await cluster.admin.call("DELETE", lease);
    const metadata = { name: world.own.name, labels: { a: "b" }, annotations: { c: "d" } };
    expectStatus(
      201,
      await cluster.admin.call("POST", paths.leases, { body: { ...leaseOf(world.own.name), metadata } }),
    );
    for (const minute of ["00", "01"]) {
      const { body } = await cluster.admin.call("GET", lease);
      const spec = {
        ...(body["spec"] as object),
        leaseDurationSeconds: 179,
        renewTime: `2026-01-01T00:${minute}:00.000000Z`,
      };
      expectStatus(200, await world.agent.call("PUT", lease, { body: { ...body, spec } }));
    }
    await cluster.admin.call("DELETE", lease);
  });

  it("is refused to apply, by which each name of a manager would stay in the object", async () => {
    const apply = (path: string, kind: string, name: string, fieldManager: string) =>
      world.agent.call("PATCH", `${path}/status?fieldManager=${fieldManager}&force=true`, {
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "nodevolume.dev/v1alpha1", kind, metadata: { name }, status: { stagingPath: "/x" } },
      });
    const { own } = world.intents;
    for (const manager of ["me", "nodevolume-agent", "nodevolume-controller"])
      expectRefused(await apply(intent(), "NodeVolumeIntent", own, manager), "applies nothing");
  });

  it("leaves room for the conditions by which the controller says that it is silent", async () => {
    const conditions = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        type: `Invented${n}`,
        status: "True",
        reason: "Said",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      }));
    for (const path of [intent(), `${paths.states}/${world.own.name}`]) {
      const write = (count: number) =>
        patch(world.agent, `${path}/status`, { status: { conditions: conditions(count) } });
      expectRefused(await write(13), "at most 12 conditions");
      expectStatus(200, await write(12));
      const silent = {
        status: "Unknown",
        reason: "AgentLost",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      };
      const said = ["Ready", "Drained"].map((type) => ({ type, ...silent }));
      const body = { status: { conditions: [...said, ...conditions(12)] } };
      expectStatus(200, await patch(world.controller, `${path}/status`, body));
    }
  });
});

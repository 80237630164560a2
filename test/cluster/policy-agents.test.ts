import { expect } from "chai";
import type { ApiAnswer } from "../../hack/lib/api-client.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import {
  expectRefused,
  expectStatus,
  intentOn,
  leaseOf,
  movedAccount,
  type PolicyWorld,
  patch,
  paths,
  policyWorld,
} from "../lib/cluster/policy-world.ts";

const csiDrivers = "/apis/storage.k8s.io/v1/csidrivers";
const status = { status: { observedUID: "x", observedGeneration: 1, inUse: true, state: "Mounted" } };

describe("policy of an agent", () => {
  let cluster: TestCluster;
  let world: PolicyWorld;

  before(async function () {
    cluster = await testCluster(this);
    world = await policyWorld(cluster, "agent-policy");
  });
  after(() => world?.remove());

  const intent = (whose: keyof PolicyWorld["intents"]) => `${paths.intents}/${world.intents[whose]}`;

  it("writes the status of an intent of its node", async () => {
    const answer = await patch(world.agent, `${intent("own")}/status`, status);
    expectStatus(200, answer);
    expect((answer.body["status"] as { state: string }).state).to.equal("Mounted");
  });

  it("writes the status of its node's state", async () => {
    const body = { status: { volumes: 1 } };
    expectStatus(200, await patch(world.agent, `${paths.states}/${world.own.name}/status`, body));
  });

  it("has no Lease on a Node that is named nodevolume-controller", async () => {
    const name = "nodevolume-controller";
    const node = await createNodeObject(cluster.admin, name);
    const agent = cluster.as(await cluster.token("nodevolume-agent", { kind: "Node", ...node }));
    try {
      const leaders = { ...leaseOf(name), spec: { holderIdentity: "controller-0", leaseDurationSeconds: 15 } };
      expectStatus(201, await world.controller.call("POST", paths.leases, { body: leaders }));
      const stolen = { spec: { holderIdentity: "me" } };
      const lease = `${paths.leases}/${name}`;
      const now = await cluster.admin.call("GET", lease);
      const body = { ...now.body, ...stolen };
      expectRefused(await agent.call("PUT", lease, { body }), "a Node of this name can have no agent");
      expectStatus(200, await cluster.admin.call("DELETE", lease));
      expectRefused(
        await agent.call("POST", paths.leases, { body: leaseOf(name) }),
        "a Node of this name can have no agent",
      );
    } finally {
      await cluster.admin.call("DELETE", `${paths.leases}/${name}`);
      await cluster.admin.call("DELETE", `/api/v1/nodes/${name}`);
    }
  });

  it("the Lease by which agents find out whether they could write for others is refused by that rule alone", async () => {
    const name = "policy-probe.nodevolume.dev";
    const node = await createNodeObject(cluster.admin, name);
    try {
      // To whom the rule has nothing to say it is let through, so whoever is refused meets that rule.
      const agent = cluster.as(await cluster.token("nodevolume-agent", { kind: "Node", ...node }));
      expectStatus(201, await agent.call("POST", `${paths.leases}?dryRun=All`, { body: leaseOf(name) }));
      expectRefused(await world.agent.call("POST", `${paths.leases}?dryRun=All`, { body: leaseOf(name) }), elsewhere);
    } finally {
      await cluster.admin.call("DELETE", `/api/v1/nodes/${name}`);
    }
  });

  it("makes and renews its own Lease", async () => {
    const made = await world.agent.call("POST", paths.leases, { body: leaseOf(world.own.name) });
    expectStatus(201, made);
    const spec = { ...(made.body["spec"] as object), renewTime: "2026-01-01T00:00:00.000000Z" };
    expectStatus(
      200,
      await world.agent.call("PUT", `${paths.leases}/${world.own.name}`, { body: { ...made.body, spec } }),
    );
  });

  const events = "/api/v1/namespaces/default/events";
  const volume = "datasets-0123456789";
  const eventFrom = (host: string, name: string) => ({
    metadata: { namespace: "default", name },
    involvedObject: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeIntent", name: `${host}.${volume}` },
    type: "Warning",
    reason: "Drifted",
    message: "somebody unmounted it",
    source: { component: "nodevolume-agent", host },
    reportingComponent: "nodevolume-agent",
  });

  it("writes Events that come from its node, and counts them up", async () => {
    const body = eventFrom(world.own.name, "agent-policy.own");
    expectStatus(201, await world.agent.call("POST", events, { body }));
    expectStatus(200, await patch(world.agent, `${events}/agent-policy.own`, { count: 2 }));
  });

  it("is refused Events of another node, and the change of somebody else's", async () => {
    const body = eventFrom(world.other.name, "agent-policy.other");
    expectRefused(await world.agent.call("POST", events, { body }), elsewhere);
    expectRefused(await world.homeless.call("POST", events, { body }), bound);
    expectStatus(201, await cluster.admin.call("POST", events, { body }));
    const theirs = `${events}/agent-policy.other`;
    expectRefused(await patch(world.agent, theirs, { message: "all is well" }), elsewhere);
    const taken = { message: "all is well", source: { component: "nodevolume-agent", host: world.own.name } };
    expectRefused(await patch(world.agent, theirs, taken), "the Event is another's");
  });

  /** With which a Lease or an Event would hold what is not the agent's, or be found by others. */
  const smuggled = () => [
    { finalizers: ["example.com/stays"] },
    { ownerReferences: [{ apiVersion: "v1", kind: "Node", blockOwnerDeletion: true, ...world.other }] },
    { labels: { app: "kube-scheduler" } },
    { annotations: { a: "x".repeat(200_000) } },
  ];

  it("is refused Events in the name of another component, about other objects, and longer than it writes any", async () => {
    const body = eventFrom(world.own.name, "agent-policy.forged");
    const pod = { apiVersion: "v1", kind: "Pod", namespace: "default", name: "db-0" };
    const forged = [
      { source: { component: "kubelet", host: world.own.name } },
      { reportingComponent: "nodevolume-controller" },
      { reportingComponent: undefined },
      { involvedObject: pod },
      { involvedObject: { ...pod, apiVersion: undefined } },
      { involvedObject: { ...pod, apiVersion: "nodevolume.dev/v1alpha1" } },
      { message: "x".repeat(1025) },
    ];
    for (const more of forged) {
      const answer = await world.agent.call("POST", events, { body: { ...body, ...more } });
      expectRefused(answer, "an agent writes Events of nodevolume-agent about objects of nodevolume.dev");
    }
    for (const more of smuggled()) {
      const answer = await world.agent.call("POST", events, {
        body: { ...body, metadata: { ...body.metadata, ...more } },
      });
      expectRefused(answer, "an agent writes no finalizers");
    }
    expectStatus(201, await world.agent.call("POST", events, { body: { ...body, message: "x".repeat(1024) } }));
    for (const metadata of smuggled())
      expectRefused(await patch(world.agent, `${events}/${body.metadata.name}`, { metadata }), "writes no finalizers");
    expectRefused(await patch(world.agent, `${events}/${body.metadata.name}`, { message: "x".repeat(1025) }), "1024");
  });

  it("is refused Events about volumes of another node, whose UIDs it can read", async () => {
    const body = eventFrom(world.own.name, "agent-policy.others");
    const { own, other } = world;
    const about = (kind: string, name: string) => ({
      ...body,
      involvedObject: { ...body.involvedObject, kind, name },
    });
    const names = [`${other.name}.${volume}`, `${own.name}.x.${volume}`, own.name, `${own.name}x.${volume}`];
    for (const one of [...names.map((n) => about("NodeVolumeIntent", n)), about("NodeVolumeState", other.name)])
      expectRefused(await world.agent.call("POST", events, { body: one }), "of its own node");
    expectStatus(201, await world.agent.call("POST", events, { body: about("NodeVolumeState", own.name) }));
  });

  it("is refused a Lease that holds or names what is not its node, and keeps what others have written into it", async () => {
    const lease = `${paths.leases}/${world.own.name}`;
    await cluster.admin.call("POST", paths.leases, { body: leaseOf(world.own.name) }); // unless it is there
    const { body } = await cluster.admin.call("GET", lease);
    for (const more of smuggled()) {
      const metadata = { ...(body["metadata"] as object), ...more };
      expectRefused(await world.agent.call("PUT", lease, { body: { ...body, metadata } }), "writes no finalizers");
    }
    const spec = { ...(body["spec"] as object), holderIdentity: "x".repeat(1_000_000) };
    expectRefused(await world.agent.call("PUT", lease, { body: { ...body, spec } }), "the holder of an agent's Lease");
    for (const metadata of smuggled()) expectStatus(200, await patch(cluster.admin, lease, { metadata }));
    try {
      const marked = await cluster.admin.call("GET", lease);
      expectStatus(200, await world.agent.call("PUT", lease, { body: marked.body })); // as it renews it
    } finally {
      await patch(cluster.admin, lease, { metadata: { finalizers: null, ownerReferences: null } });
    }
  });

  it("may look for the one CSIDriver that is its own", async () => {
    expect((await world.agent.call("GET", `${csiDrivers}/csi.nodevolume.dev`)).status).to.be.oneOf([200, 404]);
  });

  const bound = "must be bound to its node";
  const elsewhere = "may not write for node";

  it("writes no status with an account in another namespace, which no policy lets off", async () => {
    await using account = await movedAccount(cluster, "nodevolume-agent", "agents-elsewhere");
    const moved = await account.client({ kind: "Node", ...world.own });
    const allowed = async () => (await moved.call("GET", paths.intents)).status === 200;
    await until("the account to have its rights", 10_000, allowed);
    const released = { status: { ...status.status, inUse: false, state: "Released" } };
    for (const client of [moved, await account.client()]) {
      expectRefused(await patch(client, `${intent("other")}/status`, released), "denied request");
      expectRefused(await patch(client, `${intent("own")}/status`, released), "denied request");
    }
  });

  const theirs = "are written by the controller";
  const agentState = { status: { agentState: { state: "Live", since: "2026-01-01T00:00:00Z" } } };
  const refused: readonly [what: string, message: string, attempt: () => Promise<ApiAnswer>][] = [
    ["an intent's status on another node", elsewhere, () => patch(world.agent, `${intent("other")}/status`, status)],
    [
      "an intent's status, the token naming no node",
      bound,
      () => patch(world.homeless, `${intent("own")}/status`, status),
    ],
    [
      "an intent's status of an earlier Node",
      "another Node",
      () => patch(world.agent, `${intent("stranger")}/status`, status),
    ],
    [
      "the state of another node",
      elsewhere,
      () => patch(world.agent, `${paths.states}/${world.other.name}/status`, { status: { volumes: 1 } }),
    ],
    [
      "the Lease of another node",
      elsewhere,
      () => world.agent.call("POST", paths.leases, { body: leaseOf(world.other.name) }),
    ],
    [
      "the controller's Lease",
      elsewhere,
      () => world.agent.call("POST", paths.leases, { body: leaseOf("nodevolume-controller") }),
    ],
    [
      "a Lease, the token naming no node",
      bound,
      () => world.homeless.call("POST", paths.leases, { body: leaseOf(world.own.name) }),
    ],
    [
      "status.attach",
      theirs,
      () => patch(world.agent, `${intent("own")}/status`, { status: { attach: { reason: "X" } } }),
    ],
    ["status.agentState", theirs, () => patch(world.agent, `${intent("own")}/status`, agentState)],
    [
      "the spec of an intent",
      "nodevolumeintents",
      () => patch(world.agent, intent("own"), { spec: { suspend: true } }),
    ],
    [
      "metadata of an intent",
      "nodevolumeintents",
      () => patch(world.agent, intent("own"), { metadata: { finalizers: null } }),
    ],
    [
      "a new intent",
      "nodevolumeintents",
      () => world.agent.call("POST", paths.intents, { body: intentOn(world.own, "agent-policy-c") }),
    ],
    ["the deletion of an intent", "nodevolumeintents", () => world.agent.call("DELETE", intent("own"))],
    [
      "its Node",
      "nodes",
      () => patch(world.agent, `/api/v1/nodes/${world.own.name}`, { metadata: { labels: { a: "b" } } }),
    ],
    ["the CSIDriver of another", "csidrivers", () => world.agent.call("GET", `${csiDrivers}/other.example.com`)],
    ["all CSIDrivers", "csidrivers", () => world.agent.call("GET", csiDrivers)],
    ["a change of its own CSIDriver", "csidrivers", () => patch(world.agent, `${csiDrivers}/csi.nodevolume.dev`, {})],
    ["a Pod", "pods", () => world.agent.call("GET", "/api/v1/pods")],
    ["a Secret", "secrets", () => world.agent.call("GET", "/api/v1/namespaces/default/secrets")],
    ["the ConfigMaps of the cluster", "configmaps", () => world.agent.call("GET", "/api/v1/configmaps")],
  ];
  for (const [what, message, attempt] of refused) {
    it(`refuses ${what}`, async () => expectRefused(await attempt(), message));
  }

  describe("with more rights than RBAC should give", () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const metadata = { name: "agent-policy-too-much" };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", ...metadata };
    const subject = { kind: "ServiceAccount", name: "nodevolume-agent", namespace: "nodevolume-system" };

    before(async () => {
      const rules = [
        { apiGroups: ["nodevolume.dev"], resources: ["*"], verbs: ["*"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["*"] },
      ];
      expectStatus(201, await cluster.admin.call("POST", `${rbac}/clusterroles`, { body: { metadata, rules } }));
      const binding = { metadata, roleRef, subjects: [subject] };
      expectStatus(201, await cluster.admin.call("POST", `${rbac}/clusterrolebindings`, { body: binding }));
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "delete", group: "nodevolume.dev", resource: "nodevolumeintents" } },
      };
      await until("the rights to arrive", 10_000, async () => {
        const answer = await world.agent.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
          body: review,
        });
        return (answer.body["status"] as { allowed: boolean }).allowed;
      });
    });
    after(async () => {
      await cluster.admin.call("DELETE", `${rbac}/clusterrolebindings/${metadata.name}`);
      await cluster.admin.call("DELETE", `${rbac}/clusterroles/${metadata.name}`);
    });

    const only = "an agent writes only status, its Events and its own Lease";
    const attempts: readonly [string, () => Promise<ApiAnswer>][] = [
      ["the spec of an intent", () => patch(world.agent, intent("own"), { spec: { suspend: true } })],
      ["the finalizer of an intent", () => patch(world.agent, intent("own"), { metadata: { finalizers: null } })],
      ["the deletion of an intent", () => world.agent.call("DELETE", intent("own"))],
      ["a new intent", () => world.agent.call("POST", paths.intents, { body: intentOn(world.own, "agent-policy-c") })],
      ["the deletion of a state", () => world.agent.call("DELETE", `${paths.states}/${world.own.name}`)],
      ["the deletion of its Lease", () => world.agent.call("DELETE", `${paths.leases}/${world.own.name}`)],
      [
        "a Lease elsewhere",
        () =>
          world.agent.call("POST", paths.leases.replace("nodevolume-system", "kube-node-lease"), {
            body: leaseOf(world.own.name),
          }),
      ],
    ];
    for (const [what, attempt] of attempts) {
      it(`refuses ${what}`, async () => expectRefused(await attempt(), only));
    }
  });
});

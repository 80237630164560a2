import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { lostStatePatch } from "../../src/controller/agents/agent-lost.ts";
import type { StateEntry } from "../../src/controller/model/projections.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import {
  expectRefused,
  expectStatus,
  intentOn,
  type PolicyWorld,
  patch,
  paths,
  policyWorld,
} from "../lib/cluster/policy-world.ts";

describe("policy of intents", () => {
  let cluster: TestCluster;
  let world: PolicyWorld;
  let intent: string;

  before(async function () {
    cluster = await testCluster(this);
    world = await policyWorld(cluster, "intent-policy");
    intent = `${paths.intents}/${world.intents.own}`;
  });
  after(() => world?.remove());

  describe("the controller", () => {
    it("writes spec, attach and agentState", async () => {
      expectStatus(200, await patch(world.controller, intent, { spec: { suspend: true } }));
      const agentState = { state: "Live", since: "2026-01-01T00:00:00Z" };
      const body = { status: { attach: { reason: "X" }, agentState } };
      expectStatus(200, await patch(world.controller, `${intent}/status`, body));
    });

    const silent = {
      type: "Ready",
      status: "Unknown",
      reason: "AgentLost",
      message: "m",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const forgeries: readonly [string, unknown][] = [
      ["observedUID", "forged"],
      ["observedGeneration", 7],
      ["grantID", "forged"],
      ["inUse", false],
      ["state", "Released"],
      ["mounts", []],
      ["pods", [{ uid: "forged", volume: "v", state: "Mounted" }]],
      ["agent", { bootID: "forged", epoch: 1 }],
      ["capacityBytes", "5"],
      ["devicePath", "/dev/x"],
      ["stagingPath", "/forged"],
      ["lastError", { reason: "DriverFailed", message: "forged", operation: "Mount", time: "2026-01-01T00:00:00Z" }],
      ["waiting", { reason: "SourceNotFound", message: "forged", since: "2026-01-01T00:00:00Z" }],
      ["expansion", { reason: "DriverFailed", message: "forged", capacityBytes: "5" }],
      ["contentVersion", "forged"],
      ["conditions", [{ ...silent, status: "True", reason: "Mounted" }]],
      ["conditions", [{ ...silent, type: "Drifted" }]],
    ];
    for (const [field, value] of forgeries) {
      it(`is refused status.${field}, which only an agent acknowledges: ${JSON.stringify(value)}`, async () => {
        const answer = await patch(world.controller, `${intent}/status`, { status: { [field]: value } });
        expectRefused(answer, "can only be written by the agent of that node");
      });
    }

    it("says of an intent that its agent is silent, and takes back neither that nor what the agent said of the mount table", async () => {
      const drifted = { ...silent, type: "Drifted", status: "False", reason: "NoDrift" };
      const said = [{ ...silent, status: "True", reason: "Mounted" }, drifted];
      expectStatus(200, await patch(world.agent, `${intent}/status`, { status: { conditions: said } }));
      const write = (conditions: object[]) => patch(world.controller, `${intent}/status`, { status: { conditions } });
      expectRefused(await write([silent]), "can only be written by the agent");
      expectStatus(200, await write([silent, drifted]));
      expectRefused(await write([{ ...silent, status: "True", reason: "Mounted" }, drifted]), "that it is Unknown");
    });

    it("writes nothing of a node's state but that", async () => {
      const state = `${paths.states}/${world.own.name}/status`;
      const lie = await patch(world.controller, state, { status: { inUse: 0, volumesInUse: [] } });
      expectRefused(lie, "can only be written by the agent");
    });

    it("says of a node's state that its agent is lost", async () => {
      const path = `${paths.states}/${world.own.name}`;
      const types = ["Ready", "Reconciling", "Drained", "PoliciesInForce", "Invented"];
      const said = types.map((type) => ({ ...silent, type, status: "False", reason: "Said" }));
      expectStatus(200, await patch(world.agent, `${path}/status`, { status: { conditions: said } }));
      const state = (await cluster.admin.call("GET", path)).body as unknown as StateEntry;
      const lost = { life: { state: "lost", expiredForMs: 1 }, nodeExists: true } as const;
      const status = lostStatePatch(state, lost, false, 1_767_225_600_000);
      expect(status?.conditions.map((one) => `${one.type}=${one.status}`)).to.deep.equal([
        ...["Ready=Unknown", "Drained=Unknown", "Invented=False"],
      ]);
      expectStatus(200, await patch(world.controller, `${path}/status`, { status }));
    });

    it("reads no Secret and no ConfigMap", async () => {
      expectRefused(await world.controller.call("GET", "/api/v1/secrets"), "secrets");
      expectRefused(await world.controller.call("GET", "/api/v1/configmaps"), "configmaps");
    });
  });

  describe("a platform administrator", () => {
    it("vouches for a release", async () => {
      const annotations = { "nodevolume.dev/release": "anna: the node is in pieces" };
      expectStatus(200, await patch(cluster.people, intent, { metadata: { annotations } }));
    });

    const set = "change the NodeVolumeSet";
    const refused: readonly [string, string, unknown][] = [
      ["the spec", set, { spec: { suspend: false, deletionPolicy: "Retain" } }],
      ["the finalizer", "annotation nodevolume.dev/release", { metadata: { finalizers: null } }],
      ["a label", set, { metadata: { labels: { "nodevolume.dev/set": "other" } } }],
    ];
    for (const [what, message, body] of refused) {
      it(`is refused ${what}`, async () => expectRefused(await patch(cluster.people, intent, body), message));
    }

    it("is refused to make, delete or acknowledge one", async () => {
      const body = intentOn(world.own, "intent-policy-c");
      expectRefused(await cluster.people.call("POST", paths.intents, { body }), "nodevolumeintents");
      expectRefused(await cluster.people.call("DELETE", intent), "nodevolumeintents");
      expectRefused(await patch(cluster.people, `${intent}/status`, { status: { inUse: false } }), "nodevolumeintents");
    });
  });

  describe("somebody with every verb of the API but none of ours", () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const metadata = { name: "intent-policy-writer" };

    before(async () => {
      const verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
      const rules = [
        { apiGroups: ["nodevolume.dev"], resources: ["nodevolumeintents", "nodevolumeintents/status"], verbs },
      ];
      expectStatus(201, await cluster.admin.call("POST", `${rbac}/clusterroles`, { body: { metadata, rules } }));
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", ...metadata };
      const subjects = [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "writers" }];
      expectStatus(
        201,
        await cluster.admin.call("POST", `${rbac}/clusterrolebindings`, { body: { metadata, roleRef, subjects } }),
      );
      await until("the rights to arrive", 10_000, async () => {
        const canI = ["--as=writer", "--as-group=writers", "auth", "can-i", "delete", "nodevolumeintents"];
        return (await cluster.adminKubectl.try(canI)).code === 0;
      });
    });
    after(async () => {
      await cluster.admin.call("DELETE", `${rbac}/clusterrolebindings/${metadata.name}`);
      await cluster.admin.call("DELETE", `${rbac}/clusterroles/${metadata.name}`);
    });

    /** kubectl as a member of the group, by impersonation. */
    const writer = async (...args: string[]) => {
      const result = await cluster.adminKubectl.try(
        ["--as=writer", "--as-group=writers", ...args],
        JSON.stringify(intentOn(world.own, "intent-policy-c")),
      );
      return { status: result.code === 0 ? 200 : 403, body: { message: result.stderr } };
    };

    const attempts: readonly [string, string, () => string[]][] = [
      ["to make one", "made and removed by the controller", () => ["create", "-f", "-"]],
      ["to delete one", "made and removed by the controller", () => ["delete", "nodevolumeintent", world.intents.own]],
      [
        "to vouch for a release",
        "needs the verb release",
        () => ["annotate", "nodevolumeintent", world.intents.other, "nodevolume.dev/release=me: because"],
      ],
      [
        "to acknowledge for a node",
        "only be written by the agent",
        () => [
          "patch",
          "nodevolumeintent",
          world.intents.own,
          "--subresource=status",
          "--type=merge",
          "-p",
          '{"status":{"inUse":false}}',
        ],
      ],
    ];
    for (const [what, message, args] of attempts) {
      it(`is refused ${what}`, async () => expectRefused(await writer(...args()), message));
    }
  });
});

import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { expectStatus, patch } from "../lib/cluster/policy-world.ts";
import type { AttachWorld } from "./attach-world.ts";
import { core, startAttachWorld } from "./attach-world.ts";
import { boundClaim } from "./bound-claim.ts";

const namespace = "shop";
const inNamespace = `/api/v1/namespaces/${namespace}`;
const podsPath = `${inNamespace}/pods`;
const setsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumesets";
const gate = "nodevolume.dev/volumes";

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

interface Pod {
  spec: { schedulingGates?: { name: string }[]; nodeSelector?: object; affinity?: object };
  status: { conditions?: Condition[] };
}

interface Node {
  spec: { taints?: { key: string; effect: string }[] };
  status: { conditions: Condition[] };
}

describe("what waits for volumes, on a real API server", () => {
  let world: AttachWorld;
  before(async function () {
    prepare(this);
    world = await startAttachWorld("waiting");
    await world.create("/api/v1/namespaces", core("Namespace", { metadata: { name: namespace } }));
    // Who would make it is not there.
    await world.create(`${inNamespace}/serviceaccounts`, core("ServiceAccount", { metadata: { name: "default" } }));
  });

  async function set(name: string, more: object): Promise<void> {
    const spec = { volume: { source: { emptyDir: {} } }, mounts: [{ name: "host", path: `/mnt/nodevolume/${name}` }] };
    await world.create(setsPath, {
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeSet",
      metadata: { name },
      spec: { ...spec, ...more },
    });
  }

  /** What a node's agent says of the only intent of a set that is all there. */
  async function mounted(name: string): Promise<void> {
    const intent = await world.granted(name);
    const mounts = intent.spec.mounts.map((mount) => ({ name: mount.name, path: mount.path, state: "Mounted" }));
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: "Ready", status: "True", reason: "Mounted", message: "", lastTransitionTime }];
    expectStatus(200, await world.acknowledge(intent, { inUse: true, state: "Mounted", mounts, conditions }));
  }

  async function pod(name: string, attributes: object, more: object = {}): Promise<void> {
    const volumes = [{ name: "v", csi: { driver: "csi.nodevolume.dev", volumeAttributes: attributes } }];
    const containers = [{ name: "c", image: "nothing", volumeMounts: [{ name: "v", mountPath: "/data" }] }];
    await world.create(podsPath, core("Pod", { metadata: { name }, spec: { containers, volumes, ...more } }));
  }

  const read = async <T>(path: string) => (await world.get(path)) as unknown as T;
  const gatesOf = async (name: string) => {
    return ((await read<Pod>(`${podsPath}/${name}`)).spec.schedulingGates ?? []).map((one) => one.name);
  };
  const untilGates = (name: string, ...wanted: string[]) =>
    until(`the gates of ${name}`, 20_000, async () => (await gatesOf(name)).join() === wanted.join());
  const conditionOf = (conditions: readonly Condition[] | undefined, type: string) => {
    const found = conditions?.find((one) => one.type === type);
    return found && `${found.status}/${found.reason}`;
  };

  describe("a node", () => {
    const node = () => read<Node>(`/api/v1/nodes/${world.nodes[0].name}`);
    const shows = async (condition: string | undefined, tainted: boolean) => {
      const { spec, status } = await node();
      const taints = (spec.taints ?? []).filter(({ key }) => key === "nodevolume.dev/not-ready");
      return conditionOf(status.conditions, "NodeVolumesReady") === condition && (taints.length === 1) === tainted;
    };

    it("has the taint until the agent says that all is mounted, and what others put there stays", async () => {
      const taints = [{ key: "example.com/gpu", effect: "NoSchedule" }];
      expectStatus(200, await patch(world.admin, `/api/v1/nodes/${world.nodes[0].name}`, { spec: { taints } }));
      const tolerations = [{ key: "example.com/gpu", operator: "Exists" }];
      await set("cache", { nodeSelector: { role: world.role("a") }, tolerations, nodeReadiness: "Taint" });
      await until("the taint", 20_000, () => shows("False/NotObserved", true));
      await mounted("cache");
      await until("the end of the taint", 20_000, () => shows("True/AllReady", false));
      const { spec, status } = await node();
      expect(spec.taints).to.deep.equal(taints);
      expect(conditionOf(status.conditions, "Ready")).to.equal("True/KubeletReady");
    });

    it("shows nothing any more when no set asks for it", async () => {
      expectStatus(200, await patch(world.admin, `${setsPath}/cache`, { spec: { nodeReadiness: "Ignored" } }));
      await until("the end of the condition", 20_000, () => shows(undefined, false));
    });
  });

  describe("a pod", () => {
    it("waits until a set is there that allows its namespace, and goes on with the nodes of the set", async () => {
      await pod("reader", { set: "reports" }, { nodeSelector: { disk: "ssd" } });
      expect(await gatesOf("reader")).to.deep.equal([gate]);
      const reason = async () =>
        conditionOf((await read<Pod>(`${podsPath}/reader`)).status.conditions, "nodevolume.dev/VolumesReady");
      await until("the first reason", 20_000, async () => (await reason()) === "False/SetNotFound");
      await set("reports", { nodeSelector: { role: world.role("b") } });
      await until("the second reason", 20_000, async () => (await reason()) === "False/NamespaceNotAllowed");
      const allowed = { spec: { allowedNamespaces: { names: [namespace] } } };
      expectStatus(200, await patch(world.admin, `${setsPath}/reports`, allowed));
      await untilGates("reader");
      const { spec } = await read<Pod>(`${podsPath}/reader`);
      expect(spec.nodeSelector).to.deep.equal({ disk: "ssd", role: world.role("b") });
      const { body } = await world.admin.call("GET", `${inNamespace}/events?fieldSelector=involvedObject.name=reader`);
      const events = (body["items"] as { reason: string; type: string }[]).map((one) => `${one.type} ${one.reason}`);
      expect(events.sort()).to.deep.equal(["Warning NamespaceNotAllowed", "Warning SetNotFound"]);
    });

    it("shows that its volume is there once the agent of its node says so, and nothing before", async () => {
      const binding = { metadata: { name: "reader" }, target: { kind: "Node", name: world.nodes[1].name } };
      await world.create(`${podsPath}/reader/binding`, { apiVersion: "v1", kind: "Binding", ...binding });
      let listed = await world.granted("reports");
      await until("the pod in the intent", 20_000, async () => {
        listed = await world.granted("reports");
        return listed.spec.pods?.length === 1;
      });
      const pods = listed.spec.pods?.map(({ uid, volume }) => ({ uid, volume, state: "Mounted" }));
      expectStatus(200, await world.acknowledge(listed, { inUse: true, state: "Mounted", pods }));
      await until("the condition", 20_000, async () => {
        const { status } = await read<Pod>(`${podsPath}/reader`);
        return conditionOf(status.conditions, "nodevolume.dev/VolumesReady") === "True/Mounted";
      });
      const { status } = await read<Pod>(`${podsPath}/reader`);
      expect(conditionOf(status.conditions, "PodScheduled")).to.match(/^True/);
    });

    it("with a claim goes where its PersistentVolume is, beside what it says itself", async () => {
      const there = { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] };
      const own = { matchExpressions: [{ key: "gpu", operator: "Exists" }] };
      await pod("writer", { persistentVolumeClaim: "data" }, affinity(own));
      await boundClaim(world, namespace, "data", [there]);
      await untilGates("writer");
      const both = { matchExpressions: [...own.matchExpressions, ...there.matchExpressions] };
      expect((await read<Pod>(`${podsPath}/writer`)).spec.affinity).to.deep.equal(affinity(both).affinity);
    });

    it("stays where the two cannot be said in one, and keeps the gates of others", async () => {
      const zone = (name: string) => ({ matchExpressions: [{ key: "zone", operator: "In", values: [name] }] });
      await boundClaim(world, namespace, "spread", [zone("a"), zone("b")]);
      const own = { matchExpressions: [{ key: "gpu", operator: "Exists" }] };
      const schedulingGates = [{ name: "example.com/quota" }];
      await pod("torn", { persistentVolumeClaim: "spread" }, { ...affinity(own), schedulingGates });
      await pod("free", { persistentVolumeClaim: "spread" }, { schedulingGates });
      await untilGates("free", "example.com/quota");
      const { spec } = await read<Pod>(`${podsPath}/free`);
      expect(spec.affinity).to.deep.equal(affinity(zone("a"), zone("b")).affinity);
      await until("the reason", 20_000, async () => {
        const { status } = await read<Pod>(`${podsPath}/torn`);
        return conditionOf(status.conditions, "nodevolume.dev/VolumesReady") === "False/NodeAffinityConflict";
      });
      expect(await gatesOf("torn")).to.deep.equal(["example.com/quota", gate]);
    });
  });

  function affinity(...nodeSelectorTerms: object[]) {
    return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
  }
});

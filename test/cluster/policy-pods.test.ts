import { expect } from "chai";
import type { ApiClient } from "../../hack/lib/api-client.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch } from "../lib/cluster/policy-world.ts";

const namespace = "gated-pods";
const pods = `/api/v1/namespaces/${namespace}/pods`;
const gateOf = (name: string) => ({ name: `nodevolume.dev/${name}` });

interface Pod {
  spec: { schedulingGates?: { name: string }[]; nodeSelector?: object; affinity?: object };
  status: { conditions?: { type: string }[] };
}

describe("policies of pods that use node volumes", () => {
  let cluster: TestCluster;
  let controller: ApiClient;

  before(async function () {
    cluster = await testCluster(this);
    controller = cluster.as(await cluster.token("nodevolume-controller"));
    for (const name of [namespace, "kube-system", "nodevolume-system"]) {
      await cluster.admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
      const body = { metadata: { name: "default" } };
      await cluster.admin.call("POST", `/api/v1/namespaces/${name}/serviceaccounts`, { body });
    }
    await until("the gates to be in force", 20_000, async () => (await gatesOf(pod("probe"))).length > 0);
  });

  const ours = { csi: { driver: "csi.nodevolume.dev", volumeAttributes: { set: "datasets" } } };
  const pod = (name: string, { metadata = {}, ...spec }: { metadata?: object; [key: string]: unknown } = {}) => ({
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "c", image: "nothing" }], volumes: [{ name: "data", ...ours }], ...spec },
  });
  const gatesOf = async (body: object, path = pods): Promise<string[]> => {
    const answer = await cluster.admin.call("POST", `${path}?dryRun=All`, { body });
    expectStatus(201, answer);
    return ((answer.body as unknown as Pod).spec.schedulingGates ?? []).map(({ name }) => name);
  };
  const make = async (name: string, more = {}) => {
    expectStatus(201, await cluster.admin.call("POST", pods, { body: pod(name, more) }));
    return `${pods}/${name}`;
  };
  const remove = (path: string) => cluster.admin.call("DELETE", `${path}?gracePeriodSeconds=0`);

  describe("nodevolume-gates", () => {
    const volumes = "nodevolume.dev/volumes";
    const cases: [what: string, body: object, gates: string[]][] = [
      ["a pod with a volume of our driver is made with the gate", pod("a"), [volumes]],
      [
        "gates that it has already stay",
        pod("a", { schedulingGates: [{ name: "example.com/x" }] }),
        ["example.com/x", volumes],
      ],
      ["its own gate is not given twice", pod("a", { schedulingGates: [gateOf("volumes")] }), [volumes]],
      ["another pod has none", pod("a", { volumes: [{ name: "data", emptyDir: {} }] }), []],
      [
        "a volume of another driver is none of ours",
        pod("a", { volumes: [{ name: "d", csi: { driver: "csi.example" } }] }),
        [],
      ],
      ["a pod that is bound to a node cannot wait", pod("a", { nodeName: "n" }), []],
      [
        "the label nodevolume.dev/no-gate keeps it away",
        pod("a", { metadata: { labels: { "nodevolume.dev/no-gate": "" } } }),
        [],
      ],
    ];
    for (const [what, body, gates] of cases) {
      it(what, async () => expect(await gatesOf(body)).to.deep.equal(gates));
    }

    for (const excluded of ["kube-system", "nodevolume-system"]) {
      it(`pods of ${excluded} have none`, async () => {
        expect(await gatesOf(pod("a"), `/api/v1/namespaces/${excluded}/pods`)).to.deep.equal([]);
      });
    }
  });

  describe("nodevolume-pods", () => {
    const term = { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] };
    const required = (nodeSelectorTerms: object[]) => ({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    });
    let path: string;
    beforeEach(async () => {
      path = await make("worker", { schedulingGates: [{ name: "example.com/x" }], nodeSelector: { disk: "ssd" } });
    });
    afterEach(() => remove(path));

    it("the controller takes its gate off and says where, in one write", async () => {
      const spec = {
        schedulingGates: [{ name: "example.com/x" }],
        nodeSelector: { gpu: "yes" },
        affinity: required([term]),
      };
      const answer = await patch(controller, path, { spec });
      expectStatus(200, answer);
      const after = (answer.body as unknown as Pod).spec;
      expect(after.schedulingGates).to.deep.equal([{ name: "example.com/x" }]);
      expect(after.nodeSelector).to.deep.equal({ disk: "ssd", gpu: "yes" });
    });

    it("takes off no gate of others, and adds none", async () => {
      expectRefused(await patch(controller, path, { spec: { schedulingGates: null } }), "of its own alone");
      const more = [{ name: "example.com/x" }, gateOf("volumes"), gateOf("more")];
      const added = await patch(controller, path, { spec: { schedulingGates: more } });
      expect(added.status, JSON.stringify(added.body)).to.be.oneOf([403, 422]);
    });

    type Change = (before: { containers: object[]; tolerations?: object[] }) => object;
    const preferred = [{ weight: 1, preference: term }];
    const spec: [what: string, change: Change, why: string][] = [
      [
        "an image",
        ({ containers }) => ({ containers: [{ ...containers[0], image: "other" }] }),
        "nothing of a pod's spec",
      ],
      ["a deadline", () => ({ activeDeadlineSeconds: 5 }), "nothing of a pod's spec"],
      [
        "a toleration",
        ({ tolerations = [] }) => ({ tolerations: [...tolerations, { key: "k", operator: "Exists" }] }),
        "nothing of a pod's spec",
      ],
      [
        "preferred node affinity",
        () => ({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }),
        "not where it would better be",
      ],
    ];
    for (const [what, change, why] of spec) {
      it(`${what} is not the controller's`, async () => {
        const before = (await cluster.admin.call("GET", path)).body as unknown as { spec: Parameters<Change>[0] };
        expectRefused(await patch(controller, path, { spec: change(before.spec) }), why);
      });
    }

    it("what its owner has said about nodes only becomes narrower, by the API server's own rule", async () => {
      expectStatus(422, await patch(controller, path, { spec: { nodeSelector: { disk: null } } }));
      expectStatus(422, await patch(controller, path, { spec: { affinity: { podAntiAffinity: {} } } }));
    });

    it("metadata is not the controller's, by way of status neither", async () => {
      const labels = { metadata: { labels: { app: "other" } } };
      expectRefused(await patch(controller, path, labels), "nothing in the metadata");
      expectRefused(await patch(controller, `${path}/status`, labels), "nothing in the metadata");
    });

    it("the nodes of a pod without a gate of ours are not the controller's", async () => {
      const gates = { schedulingGates: [{ name: "example.com/x" }] };
      expectStatus(200, await patch(controller, path, { spec: gates }));
      expectRefused(await patch(controller, path, { spec: { nodeSelector: { gpu: "yes" } } }), "no gate of its own");
      expectRefused(await patch(controller, path, { spec: { affinity: required([term]) } }), "no gate of its own");
    });

    it("its own condition comes and changes beside those of others, and nothing else of the status", async () => {
      const status = (conditions: object[], more = {}) =>
        patch(controller, `${path}/status`, { status: { conditions, ...more } });
      const before = (((await cluster.admin.call("GET", path)).body as unknown as Pod).status.conditions ??
        []) as object[];
      const condition = (type: string) => ({ type, status: "False", reason: "SetNotFound" });
      expectStatus(200, await status([...before, condition("nodevolume.dev/VolumesReady")]));
      expectStatus(200, await status(before));
      expectRefused(await status([...before, condition("Ready")]), "no other condition of a pod");
      expectRefused(await status(before, { phase: "Failed" }), "nothing else of its status");
    });

    it("does not stand in the way of others", async () => {
      expectStatus(200, await patch(cluster.admin, path, { metadata: { labels: { app: "other" } } }));
    });
  });
});

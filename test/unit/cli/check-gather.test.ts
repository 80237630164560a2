import { expect } from "chai";
import { fakeAnswer } from "../../../hack/lib/fake-answer.ts";
import { checkCommand } from "../../../src/cli/check/check.ts";
import { gatherAfter, gatherBefore } from "../../../src/cli/check/gather.ts";
import type { Cluster } from "../../../src/cli/cluster.ts";
import type { Context } from "../../../src/cli/command.ts";
import { helpOf } from "../../../src/cli/help.ts";
import { createKubeClient } from "../../../src/kube/client/client.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../src/kube/client/transport.ts";
import { recordIn, stringIn } from "../../../src/kube/json.ts";

const nodevolume = "/apis/nodevolume.dev";
const system = "/namespaces/nodevolume-system";
const found = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

/** As kubelets report 501 nodes, which are two pages. */
const nodes = Array.from({ length: 501 }, (_, at) =>
  found(`worker-${at}`, {
    spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] },
    status: {
      nodeInfo: { operatingSystem: "linux", architecture: "arm64", kernelVersion: "6.1.0", kubeletVersion: "v1.35.0" },
      conditions: [{ type: "Ready", status: "True" }],
    },
  }),
);

const answers: { readonly [path: string]: unknown } = {
  "/version": { gitVersion: "v1.35.2" },
  "/apis/admissionregistration.k8s.io/v1": {
    resources: [{ name: "validatingadmissionpolicies" }, { name: "validatingadmissionpolicies/status" }],
  },
  [nodevolume]: { versions: [{ version: "v1alpha1" }, { version: "v1beta1" }] },
  [`${nodevolume}/v1alpha1`]: { resources: [{ name: "nodevolumesets" }, { name: "nodevolumesets/status" }] },
  [`${nodevolume}/v1beta1`]: { resources: [{ name: "nodevolumesets" }] },
  "/openapi/v3/apis/nodevolume.dev/v1alpha1": {
    components: {
      schemas: {
        a: {
          properties: { kind: {}, metadata: {}, spec: { properties: { mode: {} } } },
          "x-kubernetes-group-version-kind": [{ group: "nodevolume.dev", kind: "NodeVolumeSet", version: "v1alpha1" }],
        },
        b: { properties: { x: {} } },
      },
    },
  },
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodevolumesets.nodevolume.dev": {
    metadata: { name: "nodevolumesets.nodevolume.dev", deletionTimestamp: "2026-03-01T12:00:00Z" },
  },
  [`/api/v1${system}`]: {
    metadata: { name: "nodevolume-system", labels: { "pod-security.kubernetes.io/enforce": "baseline" } },
  },
  "/apis/storage.k8s.io/v1/csinodes": {
    items: [
      found("worker-1", { spec: { drivers: [{ name: "disk.example" }, { name: "csi.nodevolume.dev" }] } }),
      found("worker-2", { spec: { drivers: null } }),
    ],
  },
  [`/apis/apps/v1${system}/daemonsets`]: {
    items: [
      found("nodevolume-agent", {
        spec: {
          template: {
            spec: {
              nodeSelector: { a: "b" },
              tolerations: [{ operator: "Exists" }],
              containers: [
                { name: "other", volumeMounts: [{ mountPath: "/other", mountPropagation: "Bidirectional" }] },
                {
                  name: "agent",
                  envFrom: [{ configMapRef: { name: "nodevolume-settings-1" } }],
                  volumeMounts: [
                    { mountPath: "/mnt/nodevolume", mountPropagation: "Bidirectional" },
                    { mountPath: "/host", mountPropagation: "HostToContainer" },
                  ],
                },
              ],
            },
          },
        },
      }),
    ],
  },
  [`/api/v1${system}/configmaps`]: {
    items: [
      found("nodevolume-settings-0", { data: { NODEVOLUME_ALLOWED_PREFIXES: "/old" } }),
      found("nodevolume-settings-1", { data: { NODEVOLUME_ALLOWED_PREFIXES: "/mnt/nodevolume" } }),
    ],
  },
  [`/apis/apps/v1${system}/deployments`]: { items: [found("nodevolume-controller", { spec: { replicas: 3 } })] },
  [`/api/v1${system}/pods`]: {
    items: [
      {
        metadata: { name: "waits", labels: { "app.kubernetes.io/component": "agent" } },
        spec: {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-7"] }] }],
              },
            },
          },
        },
        status: {
          conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no room" }],
        },
      },
      {
        metadata: { name: "fails", labels: { "app.kubernetes.io/component": "agent" } },
        spec: { nodeName: "worker-8" },
        status: {
          initContainerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
          containerStatuses: [{ state: { waiting: { reason: "ErrImagePull", message: "not found" } } }],
        },
      },
    ],
  },
  [`${nodevolume}/v1alpha1/nodevolumestates`]: {
    items: [
      found("worker-1", {
        status: {
          agent: { version: "0.1.0" },
          conditions: [
            { type: "Ready", status: "False", reason: "IndexMissing", message: "none" },
            { type: "PoliciesInForce", status: "False", message: "one is missing" },
          ],
        },
      }),
    ],
  },
  [`${nodevolume}/v1alpha1/nodevolumesets`]: {
    items: [found("data", { status: { failing: [{ node: "worker-1", reason: "ToolMissing" }] } })],
  },
};

class FakeCluster implements Transport {
  readonly asked: string[] = [];
  /** As Kubernetes 1.36 does. */
  servesGates = false;
  readonly allowed: (attributes: string) => boolean;
  readonly refused: (path: string) => number | undefined;
  constructor(
    allowed: (attributes: string) => boolean = () => true,
    refused: (path: string) => number | undefined = () => undefined,
  ) {
    this.allowed = allowed;
    this.refused = refused;
  }
  async request(request: ApiRequest): Promise<ApiResponse> {
    return fakeAnswer(request.path, this.#answer(request));
  }
  #answer({ path, query = {}, body }: ApiRequest): ApiResponse {
    const status = this.refused(path);
    if (status !== undefined) return { status, body: { reason: "Forbidden", message: "not you" } };
    if (path === "/apis/authentication.k8s.io/v1/selfsubjectreviews")
      return { status: 201, body: { status: { userInfo: { username: "jane" } } } };
    if (path === "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") {
      const of = recordIn(recordIn(body, "spec"), "resourceAttributes");
      const text = [stringIn(of, "verb"), stringIn(of, "resource"), stringIn(of, "namespace") ?? ""].join(" ").trim();
      this.asked.push(text);
      return { status: 201, body: { status: { allowed: this.allowed(text) } } };
    }
    if (path === "/apis/admissionregistration.k8s.io/v1" && this.servesGates)
      return { status: 200, body: { resources: [{ name: "mutatingadmissionpolicies" }] } };
    if (path === "/api/v1/nodes") {
      const from = Number(query["continue"] ?? 0);
      const next = from + Number(query["limit"]);
      const more = next < nodes.length ? { continue: String(next) } : {};
      return { status: 200, body: { metadata: more, items: nodes.slice(from, next) } };
    }
    const answer = answers[path];
    return answer === undefined ? { status: 404, body: { reason: "NotFound" } } : { status: 200, body: answer };
  }
  stream(): () => void {
    throw new Error("nothing is watched");
  }
}

const clusterOf = (transport: Transport) =>
  ({ transport, client: createKubeClient({ transport, fieldManager: "" }), user: "me" }) as unknown as Cluster;

describe("what kubectl nvi check reads", () => {
  it("is no fields, where kube-aggregator answers without a body, as of a version that is not served", async () => {
    class WithoutDefinitions extends FakeCluster {
      override async request(request: ApiRequest): Promise<ApiResponse> {
        if (request.path.startsWith("/openapi/v3/")) return { status: 404, body: undefined };
        return super.request(request);
      }
    }
    const { definitions } = await gatherAfter(clusterOf(new WithoutDefinitions()));
    expect(definitions).to.deep.include({ served: ["nodevolumesets"], fields: undefined });
  });

  it("is what objects say, page by page, without what they have else", async () => {
    const facts = await gatherAfter(clusterOf(new FakeCluster()));
    expect(facts.server).to.equal("v1.35.2");
    expect([facts.servesPolicies, facts.servesGates]).to.deep.equal([true, false]);
    expect(facts.nodes.items).to.have.length(501);
    expect(facts.nodes.items[500]).to.deep.include({
      name: "worker-500",
      taints: [{ key: "gpu", value: "", effect: "NoSchedule" }],
      ready: true,
      architecture: "arm64",
      kernel: "6.1.0",
    });
    expect(facts.namespace.items).to.deep.equal([{ enforce: "baseline", deleting: false }]);
    expect(facts.registered.items).to.deep.equal(["worker-1"]);
    expect(facts.definitions).to.deep.equal({
      served: ["nodevolumesets"],
      others: ["v1beta1/nodevolumesets"],
      deleting: ["nodevolumesets.nodevolume.dev"],
      fields: { NodeVolumeSet: { spec: { mode: {} } } },
    });
    expect(facts.daemonSet.items).to.deep.equal([
      {
        nodeSelector: { a: "b" },
        terms: undefined,
        tolerations: [{ operator: "Exists" }],
        shared: ["/mnt/nodevolume"],
        settings: ["nodevolume-settings-1"],
        prefixes: undefined,
      },
    ]);
    expect(facts.prefixes.items).to.deep.equal(["/mnt/nodevolume"]);
    expect(facts.replicas.items).to.deep.equal([3]);
    expect(facts.pods.items).to.deep.equal([
      {
        name: "waits",
        node: "worker-7",
        component: "agent",
        ready: false,
        trouble: { reason: "Unschedulable", message: "no room" },
      },
      {
        name: "fails",
        node: "worker-8",
        component: "agent",
        ready: false,
        trouble: { reason: "ErrImagePull", message: "not found" },
      },
    ]);
    expect(facts.states.items).to.deep.equal([
      {
        node: "worker-1",
        version: "0.1.0",
        ready: { status: "False", reason: "IndexMissing", message: "none" },
        unguarded: "one is missing",
      },
    ]);
    expect(facts.sets.items).to.deep.equal([
      {
        name: "data",
        ready: false,
        failing: [{ node: "worker-1", reason: "ToolMissing", message: "" }],
        unguarded: undefined,
      },
    ]);
    expect(facts.policies.items.map(({ gone }) => gone)).to.include(true);
  });

  it("is denied kind by kind, and an API server that knows nobody of that name is an error", async () => {
    const facts = await gatherAfter(
      clusterOf(new FakeCluster(undefined, (path) => (path === "/version" ? undefined : 403))),
    );
    expect(facts.nodes).to.deep.equal({ items: [], denied: "you may not read nodes" });
    expect(facts.policies).to.deep.equal({ items: [], denied: "you may not read validatingadmissionpolicies" });
    expect(facts.daemonSet.denied).to.equal("you may not read daemonsets");
    const error = await gatherAfter(clusterOf(new FakeCluster(undefined, () => 401))).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.deep.include({ status: 401 });
  });

  it("asks for rights one by one only if the person may not do everything", async () => {
    const admin = new FakeCluster();
    expect((await gatherBefore(clusterOf(admin))).rights).to.deep.equal({
      user: "jane",
      everything: true,
      refused: [],
      escalates: true,
    });
    expect(admin.asked).to.deep.equal(["* *"]);
    const some = new FakeCluster((text) => !/^\* |daemonsets|^patch clusterroles$|^bind /.test(text));
    const { rights } = await gatherBefore(clusterOf(some));
    expect(rights).to.deep.equal({
      user: "jane",
      everything: false,
      refused: [
        "create daemonsets.apps -n nodevolume-system",
        "patch daemonsets.apps -n nodevolume-system",
        "patch clusterroles.rbac.authorization.k8s.io",
      ],
      escalates: false,
    });
    expect(some.asked).to.include("create customresourcedefinitions").and.include("escalate clusterroles");
  });
});

describe("kubectl nvi check as a command", () => {
  async function run(values: object): Promise<{ code: number; out: string }> {
    let out = "";
    const context = {
      terminal: {
        out: (text: string) => {
          out += text;
        },
      },
      system: { clock: { now: () => 0 } },
      version: "0.1.0",
      connect: async () => clusterOf(new FakeCluster((text) => !text.includes("daemonsets"))),
    } as unknown as Context;
    const code = await checkCommand.run({ args: [], values, context });
    return { code, out };
  }

  it("ends with 1 if there is a problem, and gives the same as JSON", async () => {
    const people = await run({});
    expect(people.code).to.equal(1);
    expect(people.out).to.match(/^✗ CRDs +nodevolumesets\.nodevolume\.dev is being deleted/m);
    const json = await run({ output: "json" });
    expect(json.code).to.equal(1);
    const { checks } = JSON.parse(json.out) as { checks: { check: string; result: string }[] };
    expect(checks.find(({ check }) => check === "CRDs")?.result).to.equal("Failed");
    expect(checks.map(({ check }) => check)).to.deep.equal(
      people.out
        .split("\n")
        .filter((line) => /^[✓!✗?]/.test(line))
        .map((line) => /^. (.*?) {2,}/.exec(line)?.[1]),
    );
  });

  it("is called what it is in its help", () => {
    expect(helpOf(checkCommand))
      .to.match(/--pre {2,}check whether the cluster is ready/)
      .and.include("kubectl nvi check -o json");
  });
});

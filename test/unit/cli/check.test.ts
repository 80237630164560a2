import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { checksAfter, checksBefore } from "../../../src/cli/check/checks.ts";
import type { InstalledFacts, PreFacts } from "../../../src/cli/check/facts.ts";
import { fieldsMissing, fieldsOf } from "../../../src/cli/check/fields.ts";
import { definedFields, installedKinds } from "../../../src/cli/check/installation.gen.ts";
import { rendered } from "../../../src/cli/check/rendered.ts";
import { requirements } from "../../../src/cli/check/requirements.ts";
import type { CheckResult } from "../../../src/cli/check/result.ts";
import { versionText } from "../../../src/cli/check/version.ts";
import {
  agent,
  broken,
  controller,
  driver,
  installed,
  lease,
  node,
  now,
  state,
  uninstalled,
  version,
} from "../../lib/check-facts.ts";

const mark = { Ok: "✓", Limited: "!", Failed: "✗", Unknown: "?" } as const;
const shown = ({ check, result, found, remedy = "" }: CheckResult) => `${mark[result]} ${check}: ${found} → ${remedy}`;

/** What is not as it should be, of a cluster in which one thing is changed. */
const beforeWith = (more: Partial<PreFacts>) => bad(checksBefore(uninstalled(more), version));
const afterWith = (more: Partial<InstalledFacts>) => bad(checksAfter(installed(more), now, version));
const bad = (results: readonly CheckResult[]) => results.filter(({ result }) => result !== "Ok").map(shown);

/** Each result is matched by its expression, in this order, and there are no others. */
function expectResults(results: readonly string[], expected: readonly RegExp[]): void {
  expect(results, results.join("\n")).to.have.length(expected.length);
  expected.forEach((expression, at) => {
    expect(results[at]).to.match(expression);
  });
}

const set = (reason: string, message = "") => ({
  name: "data",
  ready: false,
  failing: [{ node: "worker-2", reason, message }],
  unguarded: undefined,
});
const notRead = (what: string) => ({ items: [], denied: `you may not read ${what}` });

describe("kubectl nvi check --pre", () => {
  it("has nothing against a cluster that has all", () => {
    const results = checksBefore(uninstalled(), version);
    expect(bad(results)).to.deep.equal([]);
    expect(results.map(({ check }) => check)).to.deep.equal([
      "Kubernetes",
      "admission policies",
      "scheduling gates",
      "your rights",
      "namespace",
      "CRDs",
      "CSI driver",
      "nodes",
      "kernels",
      "kubelets",
      "container runtimes",
      "platform",
    ]);
  });

  const rows: readonly [what: string, more: Partial<PreFacts>, expected: readonly RegExp[]][] = [
    [
      "an API server that is too old, and with it every kubelet",
      { server: "v1.31.4" },
      [
        /^✗ Kubernetes: v1\.31\.4 is older than 1\.32 → Upgrade/,
        /^! object access: not before 1\.36/,
        /^✗ kubelets: v1\.36\.3: Kubernetes does not support that of worker-1, worker-2 with an API server 1\.31/,
      ],
    ],
    [
      "an API server without the gates, as a cloud names it",
      { server: "v1.34.2-gke.100", servesGates: false, nodes: { items: [node("a", { kubelet: "v1.34.2" })] } },
      [/^! scheduling gates: .* → Install with .*before-1\.36/, /^! object access: .* → .*node-fields/],
    ],
    [
      "a kubelet that its API server supports, and that is too old for agents",
      { server: "v1.34.2", nodes: { items: [node("a", { kubelet: "v1.31.9" })] } },
      [/^! object access/, /^! kubelets: v1\.31\.9: older than 1\.32 on a → Upgrade kubelet there/],
    ],
    ["a version that nobody understands", { server: "dev" }, [/^! Kubernetes: dev: no version/]],
    ["an API server without policies", { servesPolicies: false }, [/^✗ admission policies: .* → Serve/]],
    [
      "somebody who may not create roles",
      {
        rights: {
          user: "jane",
          everything: false,
          refused: ["create clusterroles.rbac.authorization.k8s.io", "create daemonsets.apps -n nodevolume-system"],
          escalates: false,
        },
      },
      [
        /^✗ your rights: jane lacks 2 rights .*: create clusterroles.*daemonsets.* → .*can-i create clusterroles\.\S+ --as USER$/,
      ],
    ],
    [
      "somebody who may create roles, of their own rights",
      { rights: { user: "jane", everything: false, refused: [], escalates: false } },
      [/^! your rights: jane may create roles only with rights of their own/],
    ],
    [
      "a namespace with another Pod Security",
      { namespace: { items: [{ enforce: "baseline", deleting: false }] } },
      [/^✗ namespace: .* baseline: .* → kubectl label namespace nodevolume-system --overwrite .*=privileged$/],
    ],
    [
      "a namespace that is being deleted",
      { namespace: { items: [{ enforce: "privileged", deleting: true }] } },
      [/^✗ namespace: .* is being deleted/],
    ],
    [
      "a namespace without a label, which the installation adds",
      { namespace: { items: [{ enforce: undefined, deleting: false }] } },
      [],
    ],
    [
      "CRDs of an earlier version",
      {
        definitions: {
          ...installed().definitions,
          fields: { ...definedFields, NodeVolumeState: { spec: {}, status: {} } },
        },
      },
      [/^! CRDs: they are not those of 0\.1\.0: without NodeVolumeState\.spec\.intents, .* → .*config\/crd$/],
    ],
    [
      "CRDs of a later version",
      { definitions: { ...installed().definitions, others: ["v1beta1/nodevolumesets"] } },
      [/^! CRDs: nodevolume\.dev also has v1beta1\/nodevolumesets/],
    ],
    [
      "CRDs that are being deleted",
      { definitions: { ...installed().definitions, deleting: ["nodevolumesets.nodevolume.dev"] } },
      [/^✗ CRDs: .* → .*kubectl get crd nodevolumesets\.nodevolume\.dev/],
    ],
    [
      "a driver of somebody else with our name",
      { csiDriver: { items: [driver({ attachRequired: true, fsGroupPolicy: "File" })] } },
      [/^✗ CSI driver: .* another attachRequired, fsGroupPolicy → .*kubectl delete csidriver csi\.nodevolume\.dev$/],
    ],
    ["our own driver of an earlier installation", { csiDriver: { items: [driver()] } }, []],
    [
      "a driver that registers with our name",
      { registered: { items: ["worker-2"] } },
      [/^! CSI driver: .* on worker-2/],
    ],
    [
      "nobody may read the nodes",
      { nodes: notRead("nodes") },
      [/^\? nodes: not checked: you may not read nodes → .*nvi-viewer/],
    ],
    ["no node at all", { nodes: { items: [] } }, [/^! nodes: there are none/]],
  ];
  for (const [what, more, expected] of rows) it(what, () => expectResults(beforeWith(more), expected));

  const nodeRows: readonly [what: string, more: Parameters<typeof node>[1], expected: readonly RegExp[]][] = [
    [
      "Windows",
      { os: "windows", kernel: "10.0.20348" },
      [/^! nodes: 2 nodes: linux\/amd64 \(1\), windows\/amd64 \(1\); no agent runs on x/],
    ],
    ["another processor", { architecture: "s390x" }, [/^✗ nodes: .* does not start on x: it needs amd64 or arm64/]],
    ["arm64", { architecture: "arm64" }, []],
    ["an old kernel", { kernel: "4.18.0-372.el8" }, [/^✗ kernels: Linux 4\.18 to 6\.12: older than 5\.12 on x/]],
    ["the oldest kernel", { kernel: "5.12.0" }, []],
    ["a kubelet that is three versions older", { kubelet: "v1.33.1" }, []],
    ["a kubelet that is newer", { kubelet: "v1.37.0" }, [/^✗ kubelets: .* that of x with/]],
    ["a kubelet that is too old", { kubelet: "v1.31.9" }, [/^✗ kubelets: .* that of x with/]],
    ["Container-Optimized OS", { image: "Container-Optimized OS from Google" }, [/^! platform: GKE.*1 node.*gke\.md/]],
    ["Talos", { image: "Talos (v1.11.2)" }, [/^! platform: Talos.*talos\.md/]],
    ["Bottlerocket", { image: "Bottlerocket OS 1.15.0 (aws-k8s-1.32)" }, [/^! platform: Bottlerocket.*eks\.md/]],
    ["RHCOS", { image: "Red Hat Enterprise Linux CoreOS 9.6" }, [/^! platform: OpenShift.*openshift\.md/]],
    ["k0s", { kubelet: "v1.36.3+k0s" }, [/^! platform: k0s.*k0s\.md/]],
    ["k3s, where nothing has to be changed", { kubelet: "v1.36.3+k3s1" }, []],
    ["microk8s", { labels: { "microk8s.io/cluster": "true" } }, [/^! platform: microk8s.*microk8s\.md/]],
    ["Fargate", { labels: { "eks.amazonaws.com/compute-type": "fargate" } }, [/^! platform: Fargate.*eks\.md/]],
  ];
  for (const [what, more, expected] of nodeRows)
    it(`a node with ${what}`, () => {
      expectResults(beforeWith({ nodes: { items: [node("worker-1"), node("x", more)] } }), expected);
    });

  it("names pages that there are, and needs what docs/platforms says", () => {
    for (const more of nodeRows.map(([, one]) => one)) {
      for (const text of beforeWith({ nodes: { items: [node("x", more)] } }))
        for (const [page] of text.matchAll(/docs\/[\w/-]+\.md/g)) readFileSync(join(root, page));
    }
    const page = readFileSync(join(root, "docs/platforms/README.md"), "utf8");
    expect(page)
      .to.include(`${versionText(requirements.kubernetes)} or later`)
      .and.include(`${versionText(requirements.kernel)} or later`)
      .and.include(requirements.architectures.join(" or "))
      .and.include(`Before ${versionText(requirements.wholeKubernetes)} use`);
  });
});

describe("kubectl nvi check", () => {
  it("has nothing against an installation that works", () => {
    expect(bad(checksAfter(installed(), now, version))).to.deep.equal([]);
  });

  const rows: readonly [what: string, more: Partial<InstalledFacts>, expected: readonly RegExp[]][] = [
    [
      "nothing is installed",
      { definitions: uninstalled().definitions, namespace: { items: [] } },
      [/^✗ installation: neither .* → kubectl nvi check --pre/],
    ],
    [
      "a CRD is missing",
      { definitions: { ...installed().definitions, served: ["nodevolumesets", "nodevolumestates"] } },
      [/^✗ CRDs: nodevolumeintents \(v1alpha1\) is not served → .*config\/crd$/],
    ],
    [
      "a policy is missing",
      {
        policies: { items: [{ policy: "nodevolume-pods", gone: true, message: "there is no policy nodevolume-pods" }] },
      },
      [/^✗ admission policies: there is no policy nodevolume-pods → Apply the policies: .*config\/policy/],
    ],
    [
      "a policy was changed",
      { policies: { items: [{ policy: "nodevolume-pods", gone: false, message: "another" }] } },
      [/^! admission policies: not those of 0\.1\.0: nodevolume-pods → If nobody has changed them on purpose/],
    ],
    [
      "an agent finds that its policy refuses nothing, although the objects are there",
      {
        states: {
          items: [state("worker-1", { unguarded: "the policy nodevolume-agents refuses nothing" }), state("worker-2")],
        },
      },
      [/^✗ admission policies: the policy nodevolume-agents refuses nothing/],
    ],
    ["policies that may not be read, under a controller that reports none", { policies: notRead("policies") }, []],
    [
      "policies that may not be read, and nobody who would report them",
      { policies: notRead("policies"), sets: { items: [] } },
      [/^\? admission policies: not checked: you may not read policies/],
    ],
    ["no gates", { gates: { items: [] } }, [/^! scheduling gates: .*nodevolume-gates.* → .*config\/gates/]],
    [
      "an API server without gates",
      { servesGates: false, gates: { items: [] } },
      [/^! scheduling gates: .*readiness\.md/],
    ],
    [
      "one controller of two",
      {
        pods: {
          items: [
            controller(1),
            controller(2, broken("ImagePullBackOff", "no such image")),
            ...installed().pods.items.slice(2),
          ],
        },
      },
      [
        /^! controller: 1 of 2 pods are ready: ImagePullBackOff: no such image → Name an image .*describe pod nodevolume-controller-2$/,
      ],
    ],
    [
      "no controller",
      {
        pods: { items: installed().pods.items.slice(2) },
        leases: { items: [lease("nodevolume-controller", 1500), lease("worker-1"), lease("worker-2")] },
      },
      [
        /^✗ controller: 0 of 2 pods are ready → .*describe deployment nodevolume-controller$/,
        /^✗ leader: no controller leads: the Lease was renewed 25m ago\. Mounts stay.* → .*logs -l/,
      ],
    ],
    [
      "nobody has ever led",
      { leases: { items: [lease("worker-1"), lease("worker-2")] } },
      [/^✗ leader: no controller leads\. /],
    ],
    [
      "agents that may not be read: what they report is",
      { pods: notRead("pods") },
      [/^\? controller: /, /^\? agents: not checked: you may not read pods/],
    ],
    ["a DaemonSet that may not be read", { daemonSet: notRead("daemonsets") }, []],
    [
      "a pod that ends again and again",
      {
        pods: {
          items: [controller(1), controller(2), agent("worker-1"), agent("worker-2", broken("CrashLoopBackOff"))],
        },
      },
      [
        /^✗ agents: 1 of 2 nodes has a ready agent; none on worker-2: CrashLoopBackOff → .*logs nodevolume-agent-worker-2 .*--previous/,
      ],
    ],
    [
      "a node that is not ready, whatever its pod is",
      {
        nodes: { items: [node("worker-1"), node("worker-2", { ready: false })] },
        pods: { items: [controller(1), controller(2), agent("worker-1"), agent("worker-2", broken("NotReady"))] },
      },
      [/^! agents: .*none on worker-2: the node is not ready → kubectl describe node worker-2$/],
    ],
    [
      "a quota that keeps pods away",
      { pods: { items: [controller(1), controller(2), agent("worker-1")] } },
      [/^✗ agents: .*none on worker-2: no pod was created → .*quota.*describe daemonset/],
    ],
    [
      "a taint that a changed DaemonSet does not tolerate",
      {
        nodes: {
          items: [node("worker-1"), node("worker-2", { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] })],
        },
        pods: { items: [controller(1), controller(2), agent("worker-1")] },
        daemonSet: {
          items: [{ nodeSelector: {}, terms: undefined, tolerations: [{ key: "cpu", operator: "Exists" }] }],
        },
      },
      [/^! agents: .*worker-2: the DaemonSet leaves them out: it does not tolerate their taint gpu=yes:NoSchedule/],
    ],
    [
      "a label that the DaemonSet selects",
      {
        pods: { items: [controller(1), controller(2), agent("worker-1"), agent("worker-2")].slice(0, 3) },
        nodes: { items: [node("worker-1", { labels: { storage: "yes" } }), node("worker-2")] },
        daemonSet: { items: [{ nodeSelector: { storage: "yes" }, terms: undefined, tolerations: [] }] },
      },
      [/^! agents: .*they lack the label storage=yes of its nodeSelector/],
    ],
    [
      "an affinity that excludes a node",
      {
        pods: { items: [controller(1), controller(2), agent("worker-1")] },
        nodes: { items: [node("worker-1"), node("worker-2", { labels: { type: "fargate" } })] },
        daemonSet: {
          items: [
            {
              nodeSelector: {},
              terms: [{ matchExpressions: [{ key: "type", operator: "NotIn", values: ["fargate"] }] }],
              tolerations: [],
            },
          ],
        },
      },
      [/^! agents: .*none on worker-2: .*nodeAffinity excludes them/],
    ],
    [
      "no DaemonSet",
      { daemonSet: { items: [] }, pods: { items: [controller(1), controller(2)] } },
      [/^✗ agents: there is no DaemonSet/, /^! reports: no agent has reported yet/],
    ],
    [
      "an agent whose pod is ready, and that does not renew its Lease",
      { leases: { items: [lease("nodevolume-controller"), lease("worker-1"), lease("worker-2", 600)] } },
      [/^✗ reports: AgentLost on worker-2: .* → Check that worker-2 is up/],
    ],
    [
      "an agent that has reported nothing",
      { states: { items: [state("worker-1")] } },
      [/^✗ reports: NoReport on worker-2: no NodeVolumeState → /],
    ],
    [
      "an agent that has not read everything yet",
      {
        states: {
          items: [
            state("worker-1", { ready: { status: "False", reason: "Progressing", message: "reading" } }),
            state("worker-2"),
          ],
        },
      },
      [/^! reports: Progressing on worker-1: reading/],
    ],
    [
      "an agent without an index",
      {
        states: {
          items: [
            state("worker-1", { ready: { status: "False", reason: "IndexMissing", message: "" } }),
            state("worker-2"),
          ],
        },
      },
      [/^✗ reports: IndexMissing on worker-1 → Apply config\/components\/index/],
    ],
    [
      "a rollout that is half done",
      { states: { items: [state("worker-1", { version: "0.2.0" }), state("worker-2")] } },
      [/^! versions: agents 0\.1\.0 \(1\), 0\.2\.0 \(1\), kubectl nvi 0\.1\.0 → .*rollout status/],
    ],
    [
      "agents of another version",
      { states: { items: [state("worker-1", { version: "0.2.0" }), state("worker-2", { version: "0.2.0" })] } },
      [/^! versions: agents 0\.2\.0, kubectl nvi 0\.1\.0 → Use kubectl nvi/],
    ],
    [
      "an installation that only observes",
      { csiDriver: { items: [] } },
      [/^! CSI driver: there is no CSIDriver.*observe-only/],
    ],
    [
      "a CSIDriver that was changed",
      { csiDriver: { items: [driver({ podInfoOnMount: false })] } },
      [/^✗ CSI driver: csi\.nodevolume\.dev has another podInfoOnMount → Apply config\/default/],
    ],
    [
      "a kubelet with another directory",
      { registered: { items: ["worker-1"] } },
      [/^✗ CSI driver: kubelet has not registered csi\.nodevolume\.dev on worker-2 → .*k0s\.md/],
    ],
    [
      "a namespace that lost its label",
      { namespace: { items: [{ enforce: undefined, deleting: false }] } },
      [/^! namespace: .*no label of Pod Security/],
    ],
    [
      "a set that needs a program",
      { sets: { items: [set("ToolMissing", "there is no mkfs.btrfs")] } },
      [
        /^✗ sets: ToolMissing of data on worker-2: there is no mkfs\.btrfs → Install the program/,
        /^! sets: 0 of 1 are ready → kubectl nvi diff/,
      ],
    ],
    [
      "a prefix that is not shared with the node",
      { sets: { items: [set("NotPropagated"), set("NotPropagated")] } },
      [/^✗ sets: NotPropagated of data on worker-2 → .*mountPropagation: Bidirectional/, /^! sets: 0 of 2 are ready/],
    ],
    ["a set that waits for a server", { sets: { items: [set("ServerUnreachable")] } }, [/^! sets: 0 of 1 are ready/]],
  ];
  for (const [what, more, expected] of rows) it(what, () => expectResults(afterWith(more), expected));

  it("takes at most 25 lines for 5,000 nodes that work, and as many for nodes that fail in five ways", () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `worker-${at}`);
    const healthy = rendered(checksAfter(installed({}, names), now, version));
    expect(healthy).to.include("5000 of 5000 nodes have a ready agent").and.include("No problems found.");
    expect(healthy.split("\n").length).to.be.below(20);
    const causes = ["CrashLoopBackOff", "ImagePullBackOff", "Unschedulable", "CreateContainerError", "OOMKilled"];
    const agents = names.map((name, at) => agent(name, broken(causes[at % 5] ?? "")));
    const failing = rendered(checksAfter(installed({ pods: { items: agents } }, names), now, version));
    expect(failing).to.include("none on worker-0, worker-10, worker-100 and 997 more: CrashLoopBackOff");
    expect(failing).to.include("other causes on ");
    expect(failing.split("\n").filter((line) => /^[✓!✗?]/.test(line)).length).to.be.below(20);
  });
});

describe("results of checks", () => {
  it("are lines for people, without what a terminal would obey", () => {
    const text = rendered([
      { check: "a", result: "Ok", found: "good" },
      { check: "longer", result: "Failed", found: "bad\u001b[2J", remedy: "act" },
      { check: "b", result: "Unknown", found: "not checked" },
    ]);
    expect(text).to.equal(
      [
        "✓ a        good",
        "✗ longer   bad\\x1b[2J",
        "           → act",
        "? b        not checked",
        "1 problem, 1 not checked.",
        "",
      ].join("\n"),
    );
  });
});

describe("what an installation is", () => {
  it("has each kind of config/default, by the name of the API", () => {
    const names = installedKinds.map(({ group, resource, namespace = "-" }) => `${resource}.${group} ${namespace}`);
    expect(names).to.include.members([
      "namespaces. -",
      "customresourcedefinitions.apiextensions.k8s.io -",
      "clusterroles.rbac.authorization.k8s.io -",
      "validatingadmissionpolicies.admissionregistration.k8s.io -",
      "mutatingadmissionpolicybindings.admissionregistration.k8s.io -",
      "daemonsets.apps nodevolume-system",
      "configmaps. nodevolume-system",
      "csidrivers.storage.k8s.io -",
    ]);
  });

  it("compares fields by their paths, through lists and maps", () => {
    const schema = (fields: object) => ({ properties: { kind: {}, metadata: {}, spec: { properties: fields } } });
    const own = fieldsOf(
      schema({
        list: { items: { properties: { a: {}, b: { properties: { c: {} } } } } },
        map: { additionalProperties: { properties: { d: {} } } },
      }),
    );
    const other = fieldsOf(schema({ list: { items: { properties: { a: {}, e: {} } } }, map: {} }));
    expect(fieldsMissing(own, other)).to.deep.equal(["spec.list.b", "spec.map.*"]);
    expect(fieldsMissing(other, own)).to.deep.equal(["spec.list.e"]);
    expect(fieldsMissing(own, own)).to.deep.equal([]);
  });
});

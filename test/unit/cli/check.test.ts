import { expect } from "chai";
import { rendered } from "../../../src/cli/check/check.ts";
import { defaultPrefixes } from "../../../src/cli/check/check-prefixes.ts";
import { checksAfter } from "../../../src/cli/check/checks.ts";
import type { InstalledFacts } from "../../../src/cli/check/facts.ts";
import { fieldsMissing, fieldsOf } from "../../../src/cli/check/fields.ts";
import { installedKinds } from "../../../src/cli/check/installation.gen.ts";
import { commonSettings } from "../../../src/configuration.ts";
import {
  agent,
  bad,
  broken,
  controller,
  daemonSet,
  driver,
  expectResults,
  installed,
  lease,
  node,
  notRead,
  now,
  state,
  uninstalled,
  version,
} from "../../lib/builders/check-facts.ts";

/** What is not as it should be, of an installation in which one thing is changed. */
const afterWith = (more: Partial<InstalledFacts>) => bad(checksAfter(installed(more), now, version));

const set = (reason: string, message = "") => ({
  name: "data",
  ready: false,
  failing: [{ node: "worker-2", reason, message }],
  unguarded: undefined,
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
      [
        /^! admission policies: not those of 0\.1\.0: nodevolume-pods → Use kubectl nvi of the version that is installed/,
      ],
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
    [
      "no gates",
      { gates: { items: [] } },
      [/^! scheduling gates: .*nodevolume-gates.* → .*components\/scheduling-gates/],
    ],
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
      "no Deployment of the controller",
      { pods: { items: installed().pods.items.slice(2) }, replicas: { items: [] } },
      [/^✗ controller: there is no pod → .*describe deployment/],
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
    [
      "a DaemonSet that may not be read",
      { daemonSet: notRead("daemonsets") },
      [/^\? prefixes: not checked: you may not read daemonsets → Bind the Role nvi-support/],
    ],
    [
      "a prefix that no volume of the DaemonSet has",
      { prefixes: { items: ["/mnt/nodevolume, /mnt/nodevolumes/,/srv"] } },
      [
        /^✗ prefixes: no mount beneath \/mnt\/nodevolumes, \/srv reaches .* → Give the DaemonSet nodevolume-agent \/mnt\/nodevolumes /,
      ],
    ],
    [
      "prefixes of the DaemonSet's own, which count",
      { prefixes: { items: ["/srv"] }, daemonSet: { items: [daemonSet({ prefixes: "/mnt/nodevolume" })] } },
      [],
    ],
    [
      "agents that share nothing with the node",
      { daemonSet: { items: [daemonSet({ shared: [] })] } },
      [/^! prefixes: .*observe-only/],
    ],
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
        daemonSet: { items: [daemonSet({ tolerations: [{ key: "cpu", operator: "Exists" }], nodeSelector: {} })] },
      },
      [/^! agents: .*worker-2: the DaemonSet leaves them out: it does not tolerate their taint gpu=yes:NoSchedule/],
    ],
    [
      "a label that the DaemonSet selects",
      {
        pods: { items: [controller(1), controller(2), agent("worker-1"), agent("worker-2")].slice(0, 3) },
        nodes: { items: [node("worker-1", { labels: { storage: "yes" } }), node("worker-2")] },
        daemonSet: { items: [daemonSet({ nodeSelector: { storage: "yes" } })] },
      },
      [/^! agents: .*they lack the label storage=yes of its nodeSelector/],
    ],
    [
      "an affinity that excludes a node",
      {
        pods: { items: [controller(1), controller(2), agent("worker-1")] },
        nodes: {
          items: [node("worker-1"), node("worker-2", { labels: { type: "fargate", "kubernetes.io/os": "linux" } })],
        },
        daemonSet: {
          items: [
            daemonSet({ terms: [{ matchExpressions: [{ key: "type", operator: "NotIn", values: ["fargate"] }] }] }),
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
      { csiDriver: { items: [driver({ podInfoOnMount: false, seLinuxMount: true })] } },
      [
        /^✗ CSI driver: .* is changed: podInfoOnMount must be true, seLinuxMount must be false → Apply config\/agent\/csi-driver\.yaml/,
      ],
    ],
    [
      "a kubelet with another directory",
      { registered: { items: ["worker-1"] } },
      [/^✗ CSI driver: kubelet has not registered csi\.nodevolume\.dev on worker-2 → .*kubelet-dir/],
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
        /^✗ sets: ToolMissing of data on worker-2: there is no mkfs\.btrfs → If it is missing on the node, install it on worker-2\./,
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

  it("takes the prefixes that agents take without a setting", () => {
    expect(commonSettings.allowedPrefixes.default).to.equal(defaultPrefixes);
    expect(afterWith({ prefixes: { items: [] } })).to.deep.equal([]);
  });

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

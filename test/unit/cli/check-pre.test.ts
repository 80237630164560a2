import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { checksBefore } from "../../../src/cli/check/checks.ts";
import type { PreFacts } from "../../../src/cli/check/facts.ts";
import { definedFields } from "../../../src/cli/check/installation.gen.ts";
import { requirements, versionText } from "../../../src/cli/check/requirements.ts";
import {
  bad,
  driver,
  expectResults,
  installed,
  node,
  notRead,
  uninstalled,
  version,
} from "../../lib/builders/check-facts.ts";

/** What is not as it should be, of a cluster in which one thing is changed. */
const beforeWith = (more: Partial<PreFacts>) => bad(checksBefore(uninstalled(more), version));

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
      [/^! scheduling gates: .* → Leave the component scheduling-gates out/, /^! object access: .* → .*node-fields/],
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
      [
        /^✗ CSI driver: .*: attachRequired must be false, fsGroupPolicy must be None → .*kubectl delete csidriver csi\.nodevolume\.dev$/,
      ],
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
      .and.include(requirements.architectures.join(" or "));
  });
});

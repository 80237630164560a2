// What no component may be needed for: an API server older than 1.36, and one that lets critical pods in only with a
// quota.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { writeKubeconfig } from "../../hack/lib/control-plane/credentials.ts";
import { type ControlPlane, startControlPlane } from "../../hack/lib/control-plane/start.ts";
import { createKubectl, type Kubectl } from "../../hack/lib/kubectl.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { locateTools } from "../../hack/lib/tools/locate.ts";
import { prepare } from "../lib/cluster/cluster.ts";

/** The oldest that a kube-apiserver of 1.36 emulates. */
const emulated = "1.33";

/** As GKE has it, by the messages of its API servers. */
const criticalPodsAreLimited = {
  apiVersion: "apiserver.config.k8s.io/v1",
  kind: "AdmissionConfiguration",
  plugins: [
    {
      name: "ResourceQuota",
      configuration: {
        apiVersion: "apiserver.config.k8s.io/v1",
        kind: "ResourceQuotaConfiguration",
        limitedResources: [
          {
            resource: "pods",
            matchScopes: [
              {
                scopeName: "PriorityClass",
                operator: "In",
                values: ["system-node-critical", "system-cluster-critical"],
              },
            ],
          },
        ],
      },
    },
  ],
};

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: {
    readonly template?: { readonly metadata: object; readonly spec: { readonly priorityClassName: string } };
  };
}

slowSuite(`config/default on an API server that is as ${emulated} was, and limits critical pods`, () => {
  let plane: ControlPlane;
  let kubectl: Kubectl;
  let rendered = "";

  before(async function () {
    prepare(this);
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-older-"));
    const tools = await locateTools({ env: process.env, report: (line) => console.log(`  ${line}`) });
    plane = await startControlPlane({ tools, directory: join(directory, "control-plane") });
    const admission = join(directory, "admission.json");
    writeFileSync(admission, JSON.stringify(criticalPodsAreLimited)); // JSON is YAML, too
    await plane.stopApiServer();
    await plane.startApiServer(undefined, [
      `--emulated-version=${emulated}`,
      `--admission-control-config-file=${admission}`,
    ]);
    const { server, ca, credentials } = plane;
    const kubeconfig = join(directory, "kubeconfig");
    writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
    kubectl = createKubectl(plane.kubectl, kubeconfig);
    rendered = await kubectl.run(["kustomize", join(root, "config/default")]);
  });
  after(() => plane?.stop());

  it("every object of it is taken, without a component", async () => {
    const served = await kubectl.run(["api-resources", "--api-group=admissionregistration.k8s.io", "-o", "name"]);
    expect(served).to.include("validatingadmissionpolicies").and.not.include("mutatingadmissionpolicies");
    const applied = await kubectl.run(["apply", "--server-side", "--validate=strict", "-f", "-"], rendered);
    expect(applied.trim().split("\n")).to.have.length(loadAll(rendered).length);
  });

  it("controller and agents get their pods by its quota, and would get none without", async () => {
    const quota = ["-n", "nodevolume-system", "resourcequota", "nodevolume-critical-pods"] as const;
    const workloads = (loadAll(rendered) as Workload[]).filter(({ spec }) => spec?.template !== undefined);
    expect(workloads.map(({ kind }) => kind)).to.have.members(["DaemonSet", "Deployment"]);
    const refusals = async () => {
      const found: string[] = [];
      for (const { metadata, spec } of workloads) {
        const pod = {
          apiVersion: "v1",
          kind: "Pod",
          ...spec?.template,
          metadata: { ...spec?.template?.metadata, ...metadata },
        };
        found.push((await kubectl.try(["create", "--dry-run=server", "-f", "-"], JSON.stringify(pod))).stderr);
      }
      return found;
    };
    // What the quota controller of kube-controller-manager writes in a moment.
    const status = JSON.stringify({ status: { hard: { pods: "1G" }, used: { pods: "0" } } });
    await kubectl.run(["patch", ...quota, "--subresource=status", "--type=merge", "-p", status]);
    expect(await refusals()).to.deep.equal(["", ""]);
    await kubectl.run(["delete", ...quota]);
    for (const refused of await refusals()) expect(refused).to.include("insufficient quota to match these scopes");
  });
});

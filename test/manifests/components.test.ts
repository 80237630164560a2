import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import type { StepError } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { tokensStandInContext } from "../../src/api/driver-object.ts";
import { parseConfig } from "../../src/config.ts";
import { driverObjectProblem } from "../../src/csi/server/driver-object-state.ts";
import { agentPodIn, nestedIn, prefixesIn, settingsIn, unseenIn } from "../lib/cluster/agent-pod.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { kustomized } from "../lib/cluster/kustomized.ts";

const strictly = ["--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"];
const dryRun = ["create", "--dry-run=server", "--validate=strict", "-o", "json", "-f"];

describe("config/components", () => {
  let cluster: TestCluster;
  /** config/default, rendered. */
  let plain = "";
  before(async function () {
    cluster = await testCluster(this);
    plain = await cluster.kubectl.run(["kustomize", join(root, "config/default")]);
  });
  const rendered = (component: string) => kustomized(cluster.kubectl, { component });

  it("scheduling-gates adds what needs Kubernetes 1.36, which config/default has nothing of", async () => {
    const kinds = (text: string) => objectsIn(text).map(({ kind }) => kind);
    const gates = ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"];
    expect(kinds(plain)).not.to.include.any.members(gates);
    const text = await rendered("scheduling-gates");
    expect(kinds(text).sort()).to.deep.equal([...kinds(plain), ...gates].sort());
    const applied = await cluster.adminKubectl.run(["apply", ...strictly], text);
    expect(applied.trim().split("\n")).to.have.length(objectsIn(text).length);
  });

  it("config/default has one prefix, in /var, and prefix-mnt adds that of before", async () => {
    expect(prefixesIn(plain)).to.deep.equal(["/var/lib/nodevolume/mounts"]);
    expect(parseConfig(["agent"], { KUBERNETES_SERVICE_HOST: "192.0.2.1", NODE_NAME: "n" })).to.deep.include({
      allowedPrefixes: prefixesIn(plain),
    });
    expect(plain).not.to.include("/mnt");
    const text = await rendered("prefix-mnt");
    const prefixes = prefixesIn(text);
    expect(prefixes).to.have.members([...prefixesIn(plain), "/mnt/nodevolume"]);
    for (const [of, pod] of [
      [prefixesIn(plain), agentPodIn(plain)],
      [prefixes, agentPodIn(text)],
    ] as const)
      expect([unseenIn(pod, of), nestedIn(pod)]).to.deep.equal([[], []]);
  });

  it("kubelet-dir puts one value of the settings in every place of kubelet's directory", async () => {
    const literals = ["NODEVOLUME_KUBELET_DIR=/data/kubelet"];
    const generator = { name: "nodevolume-settings", namespace: "nodevolume-system", behavior: "merge", literals };
    const more = `configMapGenerator: ${JSON.stringify([generator])}\n`;
    const text = await kustomized(cluster.kubectl, { component: "kubelet-dir", more });
    expect(settingsIn(text)).to.deep.equal({ ...settingsIn(plain), NODEVOLUME_KUBELET_DIR: "/data/kubelet" });
    const places = (all: string) =>
      JSON.stringify([agentPodIn(all).volumes, agentPodIn(all).containers[0].volumeMounts]);
    expect(places(plain).split("/var/lib/kubelet/")).to.have.length(7);
    expect(places(text)).to.equal(places(plain).replaceAll("/var/lib/kubelet/", "/data/kubelet/"));
    const refused = await rendered("kubelet-dir").catch(({ details }: StepError) => details.join("\n"));
    expect(refused, "without a value").to.include("data.NODEVOLUME_KUBELET_DIR");
  });

  it("index turns the index on in both roles, and nothing else", async () => {
    const text = await rendered("index");
    const added = [
      /\n +- name: NODEVOLUME_INDEX_INTENTS\n +value: "true"/,
      /\n +- name: NODEVOLUME_INTENTS\n +value: Index/,
    ];
    for (const line of added) expect(text).to.match(line);
    expect(added.reduce((rest, line) => rest.replace(line, ""), text)).to.equal(plain);
  });

  it("secure-metrics turns TLS on where metrics are served, and in the probes, and gives the rights for it", async () => {
    const text = await rendered("secure-metrics");
    expect(text.match(/name: NODEVOLUME_SECURE_METRICS\n +value: "true"/g)).to.have.length(2);
    expect(text.match(/port: metrics\n +scheme: HTTPS/g)).to.have.length(4);
    const kinds = (all: string) => objectsIn(all).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const before = new Set(kinds(plain));
    expect(
      kinds(text)
        .filter((one) => !before.has(one))
        .sort(),
    ).to.deep.equal([
      "ClusterRole nodevolume-metrics-reader",
      "ClusterRole nodevolume-metrics-reviewer",
      "ClusterRoleBinding nodevolume-metrics-reader",
      "ClusterRoleBinding nodevolume-metrics-reviewer",
      "Secret nodevolume-metrics-token",
      "ServiceAccount nodevolume-metrics-reader",
    ]);
  });

  it("monitoring adds what Prometheus and Grafana take in, and changes nothing else", async () => {
    const all = objectsIn(await rendered("monitoring"));
    const before = objectsIn(plain).map((object) => JSON.stringify(object));
    const added = all.filter((object) => !before.includes(JSON.stringify(object)));
    expect(all).to.have.length(before.length + added.length);
    expect(added.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).to.deep.equal([
      "ConfigMap nodevolume-dashboard",
      "PodMonitor nodevolume-agent",
      "PodMonitor nodevolume-controller",
      "PrometheusRule nodevolume",
    ]);
    const of = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));
    const [dashboard] = of("ConfigMap").filter(({ metadata }) => metadata.name === "nodevolume-dashboard");
    expect(dashboard?.metadata.labels).to.include({ grafana_dashboard: "1" });
    const selectors = (...kinds: string[]) => of(...kinds).map(({ spec }) => spec?.selector?.matchLabels);
    expect(selectors("PodMonitor")).to.have.deep.members(selectors("DaemonSet", "Deployment"));
  });

  it("network-policy names the controller's pods by their labels, and the port that they have", async () => {
    const path = join(root, "config/components/network-policy/controller.yaml");
    const { spec } = JSON.parse(await cluster.adminKubectl.run([...dryRun, path])) as { spec: PolicySpec };
    const controller = objectsIn(plain).find(({ kind }) => kind === "Deployment")?.spec ?? expect.fail("none");
    expect(spec.podSelector).to.deep.equal(controller.selector);
    const ports = controller.template?.spec.containers[0].ports.map(({ containerPort }) => containerPort);
    expect(spec.ingress[0].ports.map(({ port }) => port)).to.deep.equal(ports);
  });

  it("pod-tokens has kubelet hand over tokens for the audiences that a patch names", async () => {
    const files = {
      "audiences.yaml": readFileSync(join(root, "config/components/pod-tokens/audiences.example.yaml"), "utf8"),
    };
    const create = async (more: string) => {
      const text = await kustomized(cluster.kubectl, { component: "pod-tokens", more, files });
      const driver = objectsIn(text).find(({ kind }) => kind === "CSIDriver");
      const object = { ...driver, metadata: { name: "pod-tokens.example" } }; // ours may be there
      return cluster.adminKubectl.try([...dryRun, "-"], JSON.stringify(object));
    };
    const { stdout, stderr } = await create("patches: [{path: audiences.yaml}]\n");
    expect(stderr).to.equal("");
    const object = JSON.parse(stdout) as { spec: { tokenRequests: object } };
    expect([driverObjectProblem(object), tokensStandInContext(object)]).to.deep.equal([undefined, false]);
    expect(object.spec.tokenRequests).to.deep.equal([
      { audience: "https://vault.example.com", expirationSeconds: 3600 },
    ]);
    expect((await create("")).stderr, "without audiences").to.include("serviceAccountTokenInSecrets");
  });
});

function objectsIn(text: string): Rendered[] {
  return loadAll(text) as Rendered[];
}

/** What is asked of an object. */
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: object };
    readonly template?: {
      readonly spec: {
        readonly containers: readonly [{ readonly ports: readonly { readonly containerPort: number }[] }];
      };
    };
  };
}

interface PolicySpec {
  readonly podSelector: object;
  readonly ingress: readonly [{ readonly ports: readonly { readonly port: number }[] }];
}

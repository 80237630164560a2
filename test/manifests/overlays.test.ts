import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load, loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { agentPodIn, nestedIn, prefixesIn, settingsIn, unseenIn } from "../lib/cluster/agent-pod.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { fakeSecurityContextConstraints } from "../lib/fakes/fake-scc.ts";

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const strictly = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"];

describe("config/overlays", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });
  const rendered = (overlay: string) => cluster.kubectl.run(["kustomize", join(root, "config/overlays", overlay)]);

  for (const overlay of readdirSync(join(root, "config/overlays"))) {
    it(`${overlay} shows the agent every prefix, and nests nothing that spreads`, async () => {
      const text = await rendered(overlay);
      const pod = agentPodIn(text);
      expect(prefixesIn(text)).to.deep.equal(["/var/lib/nodevolume/mounts"]);
      expect(unseenIn(pod, prefixesIn(text))).to.deep.equal([]);
      expect(nestedIn(pod)).to.deep.equal([]);
    });
  }

  for (const overlay of readdirSync(join(root, "config/overlays")).filter((one) => one !== "openshift"))
    it(`${overlay} is taken by the API server, every object of it`, async () => {
      const text = await rendered(overlay);
      const applied = await cluster.adminKubectl.run(strictly, text);
      expect(applied.trim().split("\n")).to.have.length(loadAll(text).length);
    });

  it("k0s and microk8s name kubelet's directory once, and every place of it follows", async () => {
    for (const [overlay, kubelet] of [
      ["k0s", "/var/lib/k0s/kubelet"],
      ["microk8s", "/var/snap/microk8s/common/var/lib/kubelet"],
    ] as const) {
      const source = readFileSync(join(root, "config/overlays", overlay, "kustomization.yaml"), "utf8");
      expect(source.split(kubelet)).to.have.length(2);
      const text = await rendered(overlay);
      expect(settingsIn(text)["NODEVOLUME_KUBELET_DIR"]).to.equal(kubelet);
      const { volumes, containers } = agentPodIn(text);
      const paths = volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
      const mounts = containers[0].volumeMounts.map(({ mountPath }) => mountPath);
      const places = ["plugins/nodevolume.dev", "plugins_registry", "pods"].map((path) => `${kubelet}/${path}`);
      for (const list of [paths, mounts]) {
        expect(list).to.include.members(places);
        expect(list.filter((path) => path.startsWith("/var/lib/kubelet"))).to.deep.equal([]);
      }
    }
  });

  it("talos says which directories of the node kubelet has to see: all that the agent shares with it but kubelet's own", async () => {
    const config = load(readFileSync(join(root, "config/overlays/talos/machine-config.patch.yaml"), "utf8")) as {
      machine: { kubelet: { extraMounts: { source: string; destination: string; options: string[] }[] } };
    };
    const { volumes, containers } = agentPodIn(await rendered("talos"));
    const shared = containers[0].volumeMounts.filter(({ mountPropagation }) => mountPropagation === "Bidirectional");
    const paths = shared.map(({ name }) => volumes.find((volume) => volume.name === name)?.hostPath?.path ?? "");
    const { extraMounts } = config.machine.kubelet;
    expect(extraMounts.map(({ source }) => source)).to.deep.equal(
      paths.filter((path) => !path.startsWith("/var/lib/kubelet/")),
    );
    for (const { source, destination, options } of extraMounts) {
      expect(destination).to.equal(source);
      expect(options).to.have.members(["bind", "rshared", "rw"]);
    }
  });

  it("observe-only has nothing that spreads to the node, and no right to mount", async () => {
    const { containers } = agentPodIn(await rendered("observe-only"));
    const [{ securityContext, volumeMounts }] = containers;
    expect(securityContext.privileged).to.equal(false);
    expect(securityContext.capabilities).to.deep.equal({ drop: ["ALL"], add: ["SYS_PTRACE", "DAC_READ_SEARCH"] });
    const ofNode = volumeMounts.filter(({ name }) => !["state", "tmp"].includes(name));
    expect(ofNode.filter(({ readOnly }) => readOnly !== true)).to.deep.equal([]);
    expect(volumeMounts.map(({ mountPropagation }) => mountPropagation)).not.to.include("Bidirectional");
  });

  describe("openshift", () => {
    before(async () => {
      await cluster.admin.call("POST", crdPath, { body: fakeSecurityContextConstraints });
      const served = "/apis/security.openshift.io/v1/securitycontextconstraints";
      await until("the fake kind to be served", 30_000, async () => {
        return (await cluster.admin.call("GET", served)).status === 200;
      });
    });
    after(() => cluster.admin.call("DELETE", `${crdPath}/${fakeSecurityContextConstraints.metadata.name}`));

    it("is taken by an API server that has its kind, every object of it", async () => {
      const text = await rendered("openshift");
      const applied = await cluster.adminKubectl.run(strictly, text);
      expect(applied.trim().split("\n")).to.have.length(loadAll(text).length);
    });

    it("lets the two accounts be what their pods ask for, and nobody else", async () => {
      const objects = loadAll(await rendered("openshift")) as { kind: string; metadata: object; users?: string[] }[];
      const constraints = objects.filter(({ kind }) => kind === "SecurityContextConstraints");
      expect(constraints.flatMap(({ users }) => users)).to.deep.equal([
        "system:serviceaccount:nodevolume-system:nodevolume-agent",
        "system:serviceaccount:nodevolume-system:nodevolume-controller",
      ]);
      const [deployment] = objects.filter(({ kind }) => kind === "Deployment") as unknown as [
        { spec: { template: { spec: { securityContext: { runAsUser: number } } } } },
      ];
      const { runAsUser } = deployment.spec.template.spec.securityContext;
      expect(constraints[1]).to.deep.include({ runAsUser: { type: "MustRunAs", uid: runAsUser } });
    });
  });
});

import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { agentPodIn, nestedIn, prefixesIn, unseenIn } from "../lib/agent-pod.ts";
import { type TestCluster, testCluster } from "../lib/cluster.ts";
import { fakeSecurityContextConstraints } from "../lib/fake-scc.ts";

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const strictly = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"];

describe("config/overlays", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });
  const rendered = (overlay: string) => cluster.kubectl.run(["kustomize", join(root, "config/overlays", overlay)]);

  for (const overlay of ["observe-only", "openshift"]) {
    it(`${overlay} shows the agent every prefix, and nests nothing that spreads`, async () => {
      const text = await rendered(overlay);
      const pod = agentPodIn(text);
      expect(prefixesIn(text)).to.have.length(2);
      expect(unseenIn(pod, prefixesIn(text))).to.deep.equal([]);
      expect(nestedIn(pod)).to.deep.equal([]);
    });
  }

  it("observe-only is taken by the API server, every object of it", async () => {
    const text = await rendered("observe-only");
    const applied = await cluster.adminKubectl.run(strictly, text);
    expect(applied.trim().split("\n")).to.have.length(loadAll(text).length);
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

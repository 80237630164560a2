import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";

/** What Pod Security's profile "restricted" has against the agent; docs/security.md says why for each. */
const agentNeeds = [
  "host namespaces",
  "privileged",
  "allowPrivilegeEscalation != false",
  "unrestricted capabilities",
  "restricted volume types",
  "runAsNonRoot != true",
  "seccompProfile",
  "probe or lifecycle host",
];

describe("Pod Security Standards, as the API server checks them", () => {
  const namespace = "pod-security-test";
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
    const labels = { "pod-security.kubernetes.io/warn": "restricted" };
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
    await cluster.adminKubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
  });
  after(() => cluster?.adminKubectl.run(["delete", "namespace", namespace, "--wait=false"]));

  /** Its warnings about a workload in that namespace, each with what it is about. */
  async function warnings(path: string): Promise<[string, string][]> {
    const text = readFileSync(join(root, path), "utf8").replaceAll(
      "namespace: nodevolume-system",
      `namespace: ${namespace}`,
    );
    const { code, stderr } = await cluster.adminKubectl.try(["create", "--dry-run=server", "-f", "-"], text);
    expect(code, stderr).to.equal(0);
    const [, list = ""] = /violate PodSecurity "restricted:latest": (.*)/.exec(stderr) ?? [];
    return list === ""
      ? []
      : [...list.matchAll(/(?:^|, )([^()]+) (\([^()]*(?:\([^()]*\)[^()]*)*\))/g)].map(([, finding = "", why = ""]) => [
          finding,
          why,
        ]);
  }

  it("the controller is let into a namespace for which they are restricted", async () => {
    expect(await warnings("config/controller/deployment.yaml")).to.deep.equal([]);
  });

  it("the agent needs what docs/security.md says, and nothing else", async () => {
    const found = await warnings("config/agent/daemonset.yaml");
    expect(found.map(([finding]) => finding)).to.have.members(agentNeeds);
    const documented = readFileSync(join(root, "docs/security.md"), "utf8");
    for (const finding of agentNeeds) expect(documented).to.include(`| ${finding} |`);
  });

  it("none of it is about the container that has the token, but that it is in the node's namespaces", async () => {
    const found = await warnings("config/agent/daemonset.yaml");
    expect(found.map(([, why]) => why).join())
      .to.include('container "agent"')
      .and.not.include("api-proxy");
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { root } from "../../hack/lib/root.ts";
import { redact } from "../../src/api/values/redact.ts";
import { selfSigned } from "../../src/http/self-signed.ts";
import { type Nvi, nviOf, reader } from "../lib/cli/nvi.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";

const system = "/api/v1/namespaces/nodevolume-system";
const canary = (what: string) => `canary-of-${what}-8f3d1c`;

type Named = {
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
};

/** As the API server sees a kubelet: a server that is asked for a container's log. */
async function fakeKubelet(log: string): Promise<https.Server> {
  const server = https.createServer({ ...selfSigned("node") }, ({ url }, response) => {
    const known = url?.startsWith("/containerLogs/nodevolume-system/bundle-agent/agent?") === true;
    response.writeHead(known ? 200 : 404, { "content-type": "text/plain" }).end(known ? log : "no such container");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describe("kubectl nvi support-bundle", () => {
  let cluster: TestCluster;
  let nvi: Nvi;
  let kubelet: https.Server;
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-bundle-"));
  const made: string[] = [];
  const make = async (path: string, body: Named) => {
    const answer = await cluster.admin.call("POST", path, { body });
    expectStatus(201, answer);
    made.push(`${path}/${body.metadata.name}`);
    return answer.body;
  };

  before(async function () {
    cluster = await testCluster(this);
    nvi = await nviOf(cluster);
    kubelet = await fakeKubelet(
      `{"message":"agent started"}\n{"message":"asked https://bot:${canary("url")}@git.example/x"}\n`,
    );
    const node = await createNodeObject(cluster.admin, "bundle-node");
    made.push(`/api/v1/nodes/${node.name}`);
    const { port } = kubelet.address() as AddressInfo;
    await patch(cluster.admin, `/api/v1/nodes/${node.name}/status`, {
      status: {
        addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    });
    const secret = { data: { key: Buffer.from(canary("secret")).toString("base64") } };
    await make(`${system}/secrets`, { metadata: { name: "bundle-secret" }, ...secret });
    const annotations = { "team.example/note": canary("annotation") };
    const labels = { "app.kubernetes.io/name": "node-volume-operator", "app.kubernetes.io/component": "agent" };
    const env = [{ name: "HTTPS_PROXY", value: canary("proxy") }];
    const ports = [{ name: "metrics", containerPort: 9818 }];
    const containers = [{ name: "agent", image: "agent", env, ports }];
    const spec = { nodeName: node.name, serviceAccountName: "nodevolume-agent", containers };
    await make(`${system}/pods`, {
      metadata: { name: "bundle-agent", labels, annotations },
      spec: { ...spec, automountServiceAccountToken: false },
    });
    await make(`${system}/configmaps`, {
      metadata: { name: "nodevolume-settings-bundle" },
      data: { NODEVOLUME_LOG_LEVEL: "info", other: canary("setting") },
    });
    const template = { metadata: { labels }, spec: { containers } };
    await make("/apis/apps/v1/namespaces/nodevolume-system/deployments", {
      metadata: { name: "bundle-controller", annotations },
      spec: { selector: { matchLabels: labels }, template },
    });
    const csi = { driver: "disk.example", volumeHandle: "vol-17", volumeAttributes: { key: canary("attribute") } };
    await make(paths.intents, {
      metadata: { name: "bundle-node.data", annotations },
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeIntent",
      spec: {
        nodeName: node.name,
        nodeUID: node.uid,
        volumeName: "data",
        requester: { kind: "NodeVolumeSet", name: "data", uid: "u" },
        mode: "Manage",
        volumeMode: "Filesystem",
        source: { csi },
        mounts: [],
      },
    });
  });
  after(async () => {
    kubelet?.close();
    await patch(cluster.admin, `${paths.intents}/bundle-node.data`, { metadata: { finalizers: null } });
    for (const path of made.reverse()) await cluster.admin.call("DELETE", `${path}?gracePeriodSeconds=0`);
    rmSync(directory, { recursive: true, force: true });
  });

  /** Makes one, and unpacks it with the machine's tar. */
  async function bundle(name: string, ...args: string[]): Promise<Map<string, string>> {
    const file = join(directory, `${name}.tar.gz`);
    expect(await nvi("support-bundle", "--output", file, ...args)).to.equal(`${file}\n`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const unpacked = mkdtempSync(join(directory, name));
    execFileSync("tar", ["-xzf", file, "-C", unpacked, "--strip-components=1"]);
    const files = readdirSync(unpacked, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    return new Map(paths.map((path) => [path.slice(unpacked.length + 1), readFileSync(path, "utf8")]));
  }

  function expectNoCanary(files: ReadonlyMap<string, string>): void {
    const canaries = ["secret", "annotation", "proxy", "setting", "attribute", "url"].map(canary);
    for (const [path, text] of files) expect(redact(text, canaries), path).to.equal(text);
  }

  it("says what a viewer may not read, and goes on", async () => {
    const files = await bundle("viewer", "--node", "bundle-node");
    for (const gap of [
      "system/configmaps.json: you may not list configmaps in nodevolume-system",
      "system/deployments.json: you may not list deployments.apps in nodevolume-system",
      "logs/bundle-agent/agent.log: you may not get pods/log in nodevolume-system",
      "metrics/bundle-agent.txt: you may not get pods/proxy in nodevolume-system",
    ])
      expect(files.get("README.txt")).to.include(`\n  ${gap}\n`);
    expect(files.get("objects/nodevolumeintents.json")).to.include('"bundle-node.data"');
    expectNoCanary(files);
  });

  it("has logs and settings for whom config/components/support-bundle was bound to, and nothing secret", async () => {
    await cluster.adminKubectl.run(["apply", "-f", join(root, "config/components/support-bundle/role.yaml")]);
    made.push("/apis/rbac.authorization.k8s.io/v1/namespaces/nodevolume-system/roles/nvi-support");
    await make("/apis/rbac.authorization.k8s.io/v1/namespaces/nodevolume-system/rolebindings", {
      metadata: { name: "bundle-reader" },
      ...{ roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "nvi-support" } },
      ...{ subjects: [{ kind: "ServiceAccount", name: reader, namespace: "nodevolume-system" }] },
    });
    const files = await bundle("support", "--node", "bundle-node");
    expect(files.get("logs/bundle-agent/agent.log")).to.equal(
      '{"message":"agent started"}\n{"message":"asked https://[redacted]@git.example/x"}\n',
    );
    expect(files.get("system/configmaps.json")).to.include('"NODEVOLUME_LOG_LEVEL": "info"');
    expect(files.get("system/deployments.json")).to.include('"HTTPS_PROXY"');
    expect(files.get("objects/nodevolumeintents.json")).to.include("vol-17").and.include('"key": "[redacted]"');
    expect(JSON.parse(files.get("versions.json") ?? "")).to.have.nested.property("kubernetes.gitVersion");
    const gaps = (JSON.parse(files.get("bundle.json") ?? "") as { gaps: { what: string }[] }).gaps;
    expect(gaps.map(({ what }) => what)).to.deep.equal(["metrics/bundle-agent.txt"]);
    expectNoCanary(files);
  });

  it("overwrites nothing, and refuses a node that is not there", async () => {
    const fails = async (...args: string[]) => nvi("support-bundle", ...args).catch((error: unknown) => String(error));
    expect(await fails("--output", join(directory, "support.tar.gz"))).to.include("EEXIST");
    expect(await fails("--node", "bundle-nod", "--output", join(directory, "no.tar.gz"))).to.include("bundle-node?");
    expect(readdirSync(directory)).not.to.include("no.tar.gz");
  });
});

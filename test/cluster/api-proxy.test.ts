import { existsSync, readFileSync } from "node:fs";
import * as http from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { agentIdentity } from "../../hack/lib/control-plane/identities.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { startApiProxy } from "../../hack/lib/roles.ts";
import { rules } from "../../src/api-proxy/rules.ts";
import { type TestNode, testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
const namespace = "proxied";
const path = "/mnt/nodevolume/proxied";
const label = "example.com/proxied";

/** Rules for what these stories do not come to, and what does. */
const elsewhere: { readonly [rule: string]: string } = {
  intent: "an agent with --intents=Index, or whose status write met another: stories-index.test.ts",
  node: "an agent that may not watch its Node as that node: Kubernetes before 1.36",
  pods: "an agent that is about to remove what kubelet has left: test/e2e",
  "kubelet-lease": "an agent that has found something that kubelet has left: test/e2e",
  "csi-driver": "an agent beside a kubelet: test/e2e, test/csi",
};

describe("the API proxy, between an agent and a real API server", () => {
  let world: World;
  let node: TestNode;
  before(async function () {
    world = await testWorld(this);
    [node] = world.nodes;
    const { adminKubectl, kubectl } = world.cluster;
    await adminKubectl.run(["create", "namespace", namespace]);
    await adminKubectl.run(["create", "serviceaccount", "reader", "-n", namespace]);
    await kubectl.run(["label", "node", node.name, `${label}=yes`]);
    await world.apply("proxied", {
      nodeSelector: { [label]: "yes" },
      volume: memory,
      mounts: [{ name: "host", path }],
    });
    await world.objects.ready("proxied", 1);
  });
  after(() => world?.remove("proxied", "content", "meanwhile"));

  const isMounted = (at: string) => async () => (await node.mountsAt(at)).length === 1;

  it("has no capability, and the agent has no token", () => {
    const status = readFileSync(`/proc/${node.proxy.pid}/status`, "utf8");
    expect(status)
      .to.match(/^CapEff:\t0+$/m)
      .and.match(/^CapBnd:\t0+$/m)
      .and.match(/^NoNewPrivs:\t1$/m);
    const agents = readFileSync(`/proc/${node.agent.pid}/cmdline`, "utf8");
    expect(agents).to.include("unix://").and.not.include("token");
  });

  it("lets all through that an agent asks in its stories, and each rule is for something", async () => {
    const source = (of: object) => ({ ...of, namespace, name: "absent" });
    const bundle = { path: "ca.crt" };
    await world.apply("content", {
      nodeSelector: { [label]: "yes" },
      volume: {
        source: {
          projected: {
            sources: [
              { configMap: source({}) },
              { secret: source({}) },
              { serviceAccountToken: { namespace, serviceAccountName: "reader", path: "token" } },
              { downwardAPI: { items: [{ path: "node", fieldRef: { fieldPath: "metadata.labels['a']" } }] } },
              { clusterTrustBundle: { ...bundle, name: "ca" } },
              {
                clusterTrustBundle: {
                  path: "more.crt",
                  signerName: "example.com/ca",
                  labelSelector: { matchLabels: { a: "b" } },
                },
              },
            ],
          },
        },
      },
      mounts: [{ name: "host", path: "/mnt/nodevolume/content", readOnly: true }],
    });
    // The same Event comes again when the same happens again, once the first was written.
    const isUsed = async (rule: string) => (await metricsOf(node)).includes(`requests_total{rule="${rule}"`);
    await world.objects.until("an Event to come again", 90_000, async () => {
      await node.host.run("umount", path);
      await world.objects.until("the mount to be back", 10_000, isMounted(path));
      return isUsed("event-again");
    });
    node.agent.kill("SIGTERM");
    await node.agent.ended;
    node.agent = node.startAgent();
    const wanted = rules.map(({ name }) => name).filter((name) => !(name in elsewhere));
    let missing = wanted;
    await world.objects.until("each rule to be used", 120_000, async () => {
      const used = await Promise.all(wanted.map(isUsed));
      missing = wanted.filter((_, i) => used[i] === false);
      if (missing.length > 0) world.objects.describe = () => `not used: ${missing.join(", ")}`;
      return missing.length === 0;
    });
    const text = await metricsOf(node);
    for (const kind of ["form", "rule", "body", "busy"]) {
      expect(text).to.include(`nodevolume_api_proxy_refused_total{kind="${kind}"} 0`);
    }
  });

  it("asks nothing for whoever reaches its socket but what is this node's, though RBAC would let the token", async () => {
    const { cluster } = world;
    const other = world.nodes[1].name;
    const identity = await agentIdentity(cluster.controlPlane, node, join(cluster.directory, "hostile"));
    const logFile = join(cluster.directory, "hostile.log");
    const proxy = startApiProxy(node.name, {
      server: cluster.controlPlane.server,
      identity,
      logFile,
      env: process.env,
    });
    const socketPath = proxy.apiServer.slice("unix://".length);
    await world.objects.until("the proxy to listen", 30_000, () => existsSync(socketPath));
    const ours = "/apis/nodevolume.dev/v1alpha1";
    const [own] = [...world.objects.intents.values()].filter(({ spec }) => spec.nodeName === node.name);
    expect(await statusOf(socketPath, `${ours}/nodevolumeintents/${own?.metadata.name}`)).to.equal(200);
    const agent = cluster.as(readFileSync(identity.tokenFile, "utf8"));
    const near = [
      `${ours}/nodevolumeintents?limit=500`,
      `${ours}/nodevolumestates?fieldSelector=metadata.name%3D${other}`,
      `${ours}/nodevolumeintents/${own?.metadata.name.replace(node.name, other)}`,
      `/apis/coordination.k8s.io/v1/namespaces/nodevolume-system/leases/${other}`,
    ];
    for (const target of near) {
      expect((await agent.call("GET", target)).status, `the token: ${target}`).to.be.oneOf([200, 404]);
      expect(await statusOf(socketPath, target), target).to.equal(403);
    }
    await proxy.stop();
  });

  it("is killed: what is mounted stays, is repaired, and what changed meanwhile is carried out when it is back", async () => {
    const before = await node.mountsAt(path);
    expect(before).to.have.length(1);
    node.proxy.kill("SIGKILL");
    await node.proxy.ended;
    await world.apply("meanwhile", {
      nodeSelector: { [label]: "yes" },
      volume: memory,
      mounts: [{ name: "host", path: `${path}-meanwhile` }],
    });
    expect(await node.mountsAt(path)).to.deep.equal(before);
    await node.host.run("umount", path);
    await world.objects.until("it to be repaired without the API server", 10_000, isMounted(path));
    expect(await node.mountsAt(`${path}-meanwhile`)).to.deep.equal([]);
    expect(node.agent.ending()).to.equal(undefined);
    node.proxy = node.startProxy();
    await world.objects.ready("meanwhile", 1, 60_000);
    expect(await node.mountsAt(`${path}-meanwhile`)).to.have.length(1);
    await world.remove("meanwhile");
    await world.objects.until(
      "it to be gone",
      30_000,
      async () => (await node.mountsAt(`${path}-meanwhile`)).length === 0,
    );
  });

  slow("is ended while 20 changes come: none is lost, and no mount is disturbed", async () => {
    const before = await node.mountsAt(path);
    for (let round = 0; round < 20; round++) {
      const at = `${path}-meanwhile-${round % 2}`;
      await world.apply("meanwhile", {
        nodeSelector: { [label]: "yes" },
        volume: memory,
        mounts: [{ name: "host", path: at }],
      });
      if (round % 5 !== 2) continue;
      node.proxy.kill(round % 2 === 0 ? "SIGKILL" : "SIGTERM");
      await node.proxy.ended;
      node.proxy = node.startProxy();
    }
    await world.objects.ready("meanwhile", 1, 60_000);
    await world.objects.until("the last to be so", 30_000, async () => {
      const [first, last] = await Promise.all([0, 1].map((n) => node.mountsAt(`${path}-meanwhile-${n}`)));
      return first?.length === 0 && last?.length === 1;
    });
    expect(await node.mountsAt(path)).to.deep.equal(before);
  });
});

/** Where the proxy that runs now serves its metrics: its log says so. */
async function metricsOf({ proxy }: TestNode): Promise<string> {
  const lines = readFileSync(proxy.logFile, "utf8").split("\n");
  const port = lines.flatMap((line) => /"serving metrics and health","port":(\d+)/.exec(line)?.[1] ?? []).at(-1);
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** As somebody who reaches the socket. */
function statusOf(socketPath: string, path: string): Promise<number | undefined> {
  const options = { socketPath, path, headers: { accept: "application/json" } };
  return new Promise((resolve, reject) => {
    const asked = http.get(options, (head) => void head.resume().on("end", () => resolve(head.statusCode)));
    asked.on("error", reject);
  });
}

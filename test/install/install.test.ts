// What the README says to somebody who installs it, on a real kubelet: each test goes on where the one before it ended.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { createApiClient } from "../../hack/lib/api-client.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { letGuardGo } from "../lib/cluster/definitions-guard.ts";
import { ofSet, Pods } from "../lib/cluster/pods.ts";
import { imageTests } from "../lib/install/image-suite.ts";
import { processOf } from "../lib/install/install-processes.ts";
import { buildOnce, sharedInstallWorld } from "../lib/install/install-shared.ts";
import { story } from "../lib/install/install-story.ts";
import { forgetPeople, installByKustomize } from "../lib/install/install-ways.ts";
import type { InstallWorld } from "../lib/install/install-world.ts";
import { Prometheus } from "../lib/servers/prometheus.ts";

const path = "/var/lib/nodevolume/mounts/scratch";
/** Drifts of an hour that no alert is for (config/components/monitoring/rules.yaml). */
const tolerated = 12;
const source = { emptyDir: { medium: "Memory", sizeLimit: "16Mi" } };
const setOf = (name: string, spec: object) =>
  JSON.stringify({ apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec });

describe("installed from its Dockerfile and config/default", () => {
  let world: InstallWorld;
  let pods: Pods;
  const it = story();

  before(async function () {
    world = await sharedInstallWorld(this);
    const { server, ca, credentials } = world.plane;
    const admin = createApiClient({ server, ca, token: credentials.adminToken });
    pods = new Pods(admin);
    await buildOnce(world, "0.1.0");
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(await world.told());
  });
  after(() => pods?.[Symbol.dispose]());

  const apply = (set: string) => world.admin.run(["apply", "--server-side", "-f", "-"], set);
  const mounted = async (at: string) => (await world.node.host.mounts()).filter((line) => line.split(" ")[4] === at);
  /** Of the agent's metrics, host:port. */
  const metricsAddress = async () => {
    const jsonpath = "jsonpath={.status.addresses[0].address}";
    return `${await world.admin.run(["get", "node", world.node.name, "-o", jsonpath])}:9818`;
  };

  imageTests(() => world);

  it("comes up with the README's command", async function () {
    this.timeout(300_000);
    await installByKustomize(world, "0.1.0");
    expect(world.objects.states.get(world.node.name)?.status?.agent?.version).to.equal("0.1.0");
  });

  it("has the token where it is not root, and is root where there is none; and serves the metrics of both there", async () => {
    const [proxy, agent] = [processOf("api-proxy"), processOf("agent")];
    // Wherever the image has /var/run.
    const token = (pid: string) =>
      / \S+\/secrets\/kubernetes\.io\/serviceaccount /.test(readFileSync(`/proc/${pid}/mountinfo`, "utf8"));
    expect([token(proxy), token(agent)]).to.deep.equal([true, false]);
    const status = readFileSync(`/proc/${proxy}/status`, "utf8");
    expect(status)
      .to.match(/^Uid:\t59818\t/m)
      .and.match(/^CapEff:\t0+$/m)
      .and.match(/^NoNewPrivs:\t1$/m);
    const metrics = await (await fetch(`http://${await metricsAddress()}/metrics`)).text();
    expect(metrics)
      .to.match(/^nodevolume_agent_watch_connected 1$/m)
      .and.include("nodevolume_api_proxy_requests_total{");
    expect(metrics).to.match(/^nodevolume_api_proxy_refused_total\{kind="rule"\} 0$/m);
  });

  it("mounts a set on the node, and in a pod", async function () {
    this.timeout(120_000);
    const mounts = [{ name: "host", path }];
    await apply(setOf("scratch", { volume: { source }, mounts, allowedNamespaces: { names: ["default"] } }));
    await world.admin.run(["wait", "--for=condition=Ready", "nodevolumeset/scratch", "--timeout=60s"]);
    expect(await mounted(path)).to.have.lengthOf(1);
    await pods.create("user", [ofSet("data", "scratch")]);
    await pods.ready(60_000, "user");
    // A container without a probe is ready as soon as it runs, before it has written.
    const files = async () => (await world.node.host.run("ls", path)).trim();
    await world.objects.until(
      "what the pod writes to be in the volume",
      30_000,
      async () => (await files()) === "user",
    );
  });

  it("repairs what drifts, and says so", async () => {
    await world.node.host.run("umount", path);
    await world.objects.until("it to be mounted anew", 30_000, async () => (await mounted(path)).length === 1);
    await world.objects.until("an event to say so", 30_000, async () => {
      const events = await world.admin.run(["get", "events", "-A", "-o", "jsonpath={.items[*].message}"]);
      return events.includes(`${path} was unmounted by somebody else`);
    });
  });

  it("tells of what goes wrong by its alerts, to a Prometheus that looks at it", async function () {
    this.timeout(300_000);
    const labels = { job: "nodevolume-agent", node: world.node.name };
    const started = await Prometheus.start(await metricsAddress(), labels);
    if ("missing" in started) skipBecause(this, started.missing);
    await using prometheus = started;
    const fires = async (...alerts: string[]) => isDeepStrictEqual(await prometheus.firing(), alerts);
    expect(await prometheus.firing()).to.deep.equal([]);

    // Each of these is repaired. That somebody does it again and again is what the alert is for.
    for (let times = 0; times <= tolerated; times += 1) {
      await world.node.host.run("umount", path);
      await world.objects.until("it to be mounted anew", 30_000, async () => (await mounted(path)).length === 1);
    }
    await world.objects.until("an alert of drift", 30_000, () => fires("NodeVolumeDriftRepeats"));

    const socketPath = `/proc/${processOf("agent")}/root/run/nodevolume/api/api.sock`;
    const [answer] = await once(get({ socketPath, path: "/api/v1/secrets" }), "response");
    expect((answer as IncomingMessage).resume().statusCode).to.equal(403);
    const both = ["NodeVolumeAgentRequestRefused", "NodeVolumeDriftRepeats"];
    await world.objects.until("an alert of a stranger at the socket", 30_000, () => fires(...both));
  });

  it("is removed with the commands of docs/tasks/uninstall.md, and leaves mounted only what a set was told to leave", async function () {
    this.timeout(300_000);
    const kept = "/var/lib/nodevolume/mounts/kept";
    await apply(
      setOf("kept", { volume: { source }, mounts: [{ name: "host", path: kept }], deletionPolicy: "Retain" }),
    );
    await world.admin.run(["wait", "--for=condition=Ready", "nodevolumeset/kept", "--timeout=60s"]);
    const overlay = world.overlay("0.1.0");
    const early = await world.admin.try(["delete", "-k", overlay, "--timeout=60s", "--dry-run=server"]);
    expect(early.stderr, "with the CRDs everything would be unmounted").to.contain("nodevolume.dev/allow-removal");
    await pods.clear(60_000);
    await world.admin.run(["delete", "nodevolumesets", "--all", "--timeout=10m"]);
    expect([await mounted(path), (await mounted(kept)).length]).to.deep.equal([[], 1]);
    const crds = ["nodevolumesets", "nodevolumeintents", "nodevolumestates"].map((name) => `${name}.nodevolume.dev`);
    await world.admin.run(["annotate", "crd", ...crds, "nodevolume.dev/allow-removal=true"]);
    await letGuardGo(world.admin);
    await world.admin.run(["delete", "-k", overlay, "--timeout=120s"]);
    await forgetPeople(world);
    const names = await world.admin.run(["get", "crd,ns,clusterrole,clusterrolebinding,csidriver", "-o", "name"]);
    expect(names.split("\n").filter((name) => name.includes("nodevolume"))).to.deep.equal([]);
    expect(await mounted(kept)).to.have.lengthOf(1);
    await world.node.host.run("umount", kept);
    const left = (await world.node.host.mounts()).map((line) => line.split(" ")[4] ?? "");
    expect(
      left.filter((point) => point.startsWith("/var/lib/nodevolume/mounts/") || point.includes("/pods/")),
    ).to.deep.equal([]);
  });
});

// Agent and controller behind a network that is slow, cut into slices, cut off, or ends connections; and an API server
// that is killed.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { agentIdentity, controllerIdentity } from "../../hack/lib/control-plane/identities.ts";
import { untilEnforced } from "../../hack/lib/control-plane/install.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { startController } from "../../hack/lib/roles.ts";
import { resource } from "../../src/api/names.ts";
import { resourcePath } from "../../src/kube/client/resource-path.ts";
import { comesTo, type Outcome } from "../lib/asserts/comes-to.ts";
import { full } from "../lib/asserts/requirements.ts";
import { compact } from "../lib/cluster/etcd.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";
import { freePort } from "../lib/servers/free-port.ts";
import { type Toxic, Toxiproxy } from "../lib/servers/toxiproxy.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
const steady = "/mnt/nodevolume/network-steady";
const changing = "network-changing";
/** Milliseconds for which each of these lasts, and within which all is said rightly after it. */
const lastsMs = full() ? 60_000 : 2_500;
const boundMs = 60_000;

/**
 * Milliseconds in which a large CRD is there else, and while it lasts is not: latency has the four ways of a request
 * over a new connection take 100 each at least, and a rate or slices make it last for seconds.
 */
const soonMs = 400;
const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodevolumesets.nodevolume.dev";

/**
 * What a request through each comes to, which shows that it is at work. `mute`: nothing comes through, so that nobody
 * hears of a change.
 */
const toxics: readonly (Toxic & { readonly comes: Outcome; readonly mute?: true })[] = [
  { type: "latency", attributes: { latency: 400, jitter: 300 }, comes: "waiting" },
  { type: "bandwidth", attributes: { rate: 2 }, comes: "waiting" }, // KB a second
  // Bytes, and microseconds between.
  { type: "slicer", attributes: { average_size: 64, size_variation: 32, delay: 3_000 }, comes: "waiting" },
  { type: "limit_data", attributes: { bytes: 3_000 }, comes: "ended" }, // then the connection is closed
  { type: "reset_peer", attributes: { timeout: 300 }, comes: "ended", mute: true },
  { type: "timeout", attributes: { timeout: 0 }, comes: "waiting", mute: true }, // and nobody is told
];

slowSuite("a bad network between API server, agent and controller", () => {
  let world: World;
  let proxy: Toxiproxy;
  let inUse: string[][];
  let round = 0;
  let metrics: string;

  before(async function () {
    world = await testWorld(this);
    const { controlPlane, directory } = world.cluster;
    mkdirSync(join(directory, "network"), { recursive: true });
    proxy = await Toxiproxy.start(new URL(controlPlane.server).host, join(directory, "network"));
    const server = `https://${proxy.listen}`;
    const [node] = world.nodes;
    await world.controller.stop();
    const identity = await controllerIdentity(controlPlane, {}, join(directory, "network"));
    const logFile = join(directory, "network/controller.log");
    world.controller = startController("controller-far", { server, identity, logFile, env: process.env });
    await node.agent.stop();
    metrics = `127.0.0.1:${await freePort()}`;
    // Without a proxy of ours: the network is what is tried.
    const { caFile, tokenFile } = await agentIdentity(controlPlane, node, join(directory, "network/agent"));
    const access = ["--api-server", server, "--api-ca-file", caFile, "--api-token-file", tokenFile];
    node.agent = node.startAgent([...access, "--metrics-address", metrics]);
    await world.apply("network-steady", { volume: memory, mounts: [{ name: "host", path: steady }] });
    await world.objects.ready("network-steady", 3, boundMs);
    inUse = await mounts();
  });
  after(async () => {
    const [node] = world.nodes;
    await world.controller.stop();
    world.controller = await world.startController();
    await node.agent.stop();
    node.agent = node.startAgent();
    await proxy[Symbol.asyncDispose]();
    await world.remove("network-steady", changing);
  });

  const mounts = () => Promise.all(world.nodes.map((node) => node.mountsAt(steady)));

  /** A set that is new, or becomes read-only, or writable again. */
  function change(): Promise<void> {
    round += 1;
    const mount = { name: "host", path: `/mnt/nodevolume/${changing}`, readOnly: round % 2 === 0 };
    return world.apply(changing, { volume: memory, mounts: [mount] });
  }

  /** Whether the first node has what was asked for last. */
  async function isMounted(): Promise<boolean> {
    const [line] = await world.nodes[0].mountsAt(`/mnt/nodevolume/${changing}`);
    return line?.split(" ")[5]?.split(",")[0] === (round % 2 === 0 ? "ro" : "rw");
  }

  function asked(withinMs: number): Promise<Outcome> {
    const { ca, credentials } = world.cluster.controlPlane;
    return comesTo({ server: `https://${proxy.listen}`, ca, token: credentials.adminToken }, crd, withinMs);
  }

  /** Everything is as it was asked for last, and said so. @returns seconds until then */
  async function isRight(): Promise<string> {
    const since = performance.now();
    await world.objects.ready(changing, 3, boundMs);
    await world.objects.ready("network-steady", 3, boundMs);
    // A volume is Ready, and Updating, until the last step after its mount.
    await world.objects.until("each intent to be Mounted", boundMs, () =>
      world.objects
        .intentsOf(changing)
        .every(
          ({ status, metadata }) => status?.state === "Mounted" && status.observedGeneration === metadata.generation,
        ),
    );
    expect(await isMounted(), "mounted as was asked for last").to.equal(true);
    expect(await mounts(), "what is in use is the same mount").to.deep.equal(inUse);
    return `${((performance.now() - since) / 1000).toFixed(1)} s`;
  }

  async function expiredWatches(): Promise<number> {
    const text = await (await fetch(`http://${metrics}/metrics`)).text();
    return Number(/^nodevolume_agent_watch_restarts_total\{reason="expired"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  for (const toxic of toxics) {
    it(`${toxic.type} ${JSON.stringify(toxic.attributes)}: what is in use stays, and all is right soon after`, async function () {
      this.timeout(lastsMs + 2 * boundMs + 10_000);
      expect(await asked(boundMs), "a request while the network is well").to.equal("answered");
      try {
        await proxy.spoil(toxic);
        expect(await asked(toxic.comes === "waiting" ? soonMs : boundMs), "a request through it").to.equal(toxic.comes);
        await change();
        await sleep(lastsMs); // how long it lasts is what is tried
        expect(await mounts()).to.deep.equal(inUse);
        if (toxic.mute) expect(await isMounted(), "the change was heard of meanwhile").to.equal(false);
      } finally {
        await proxy.mend(toxic);
      }
      console.log(`      right ${await isRight()} after it was over`);
    });
  }

  it("an API server that is killed, and has forgotten what the watches have seen", async function () {
    this.timeout(lastsMs + 3 * boundMs);
    const { controlPlane } = world.cluster;
    const expired = await expiredWatches();
    await compact(controlPlane, resourcePath(resource.intents));
    const old = controlPlane.apiServer();
    old.kill("SIGKILL");
    await old.ended;
    expect(await mounts()).to.deep.equal(inUse);
    await sleep(lastsMs);
    await controlPlane.startApiServer();
    await untilEnforced(controlPlane);
    await change();
    console.log(`      right ${await isRight()} after it was back`);
    expect(await expiredWatches(), "watches that were told 410").to.be.above(expired);
  });
});

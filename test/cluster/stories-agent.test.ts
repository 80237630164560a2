import { readFileSync } from "node:fs";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
const path = "/mnt/nodevolume/steady";

describe("processes come and go", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
    await world.apply("steady", { volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.ready("steady", 3);
  });
  after(() => world?.remove("steady", "after-outage", "failover"));

  const mounts = () => Promise.all(world.nodes.map((node) => node.mountsAt(path)));

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`an agent ended by ${signal} leaves its mounts, and the next one carries on with them`, async () => {
      const [node] = world.nodes;
      const before = await mounts();
      node.agent.kill(signal);
      await node.agent.ended;
      expect(await mounts()).to.deep.equal(before);
      // Somebody unmounts it while nobody looks: the next agent has to find out from the table alone.
      if (signal === "SIGKILL") await node.host.run("umount", path);
      const epoch = world.objects.agentEpoch(node.name);
      node.agent = node.startAgent();
      await world.objects.until(
        "the new agent to have looked",
        20_000,
        () => world.objects.agentEpoch(node.name) > epoch,
      );
      await world.objects.until("the mount to be there", 10_000, async () => (await node.mountsAt(path)).length === 1);
      await world.objects.ready("steady", 3);
      if (signal === "SIGKILL") return;
      const { drift, history = [] } = world.objects.intentOn("steady", node.name)?.status ?? {};
      expect({ drift, drifted: history.filter((entry) => entry.reason === "Drifted") }).to.deep.equal({
        drift: undefined,
        drifted: [],
      });
      expect(await mounts()).to.deep.equal(before);
    });
  }

  it("a second agent on a node waits for the first, and says so", async () => {
    const [, node] = world.nodes;
    const before = await mounts();
    const second = node.startAgent();
    const waits = () => readFileSync(second.logFile, "utf8").includes("another agent has this node");
    await world.objects.until("the second agent to say that it waits", 10_000, waits);
    expect(await mounts()).to.deep.equal(before);
    node.agent.kill("SIGKILL");
    await node.agent.ended;
    node.agent = second;
    const epoch = world.objects.agentEpoch(node.name);
    await world.objects.until(
      "the second agent to take over",
      20_000,
      () => world.objects.agentEpoch(node.name) > epoch,
    );
    expect(await mounts()).to.deep.equal(before);
  });

  slow("without an API server nothing is disturbed and drift is still repaired; then all converges", async function () {
    const seconds = full() ? 300 : 45;
    this.timeout((seconds + 120) * 1000);
    const [node] = world.nodes;
    const before = await mounts();
    await world.cluster.controlPlane.stopApiServer();
    const back = performance.now() + seconds * 1000;
    await node.host.run("umount", path);
    await world.objects.until(
      "the repair without an API server",
      10_000,
      async () => (await node.mountsAt(path)).length === 1,
    );
    const others = before.slice(1);
    await world.objects.until("the end of the outage", (seconds + 10) * 1000, async () => {
      const now = await mounts();
      expect(now.every((lines) => lines.length === 1)).to.equal(true);
      expect(now.slice(1)).to.deep.equal(others);
      return performance.now() > back;
    });
    await world.cluster.controlPlane.startApiServer();
    await world.apply("after-outage", {
      volume: memory,
      mounts: [{ name: "host", path: "/mnt/nodevolume/after-outage" }],
    });
    await world.objects.ready("after-outage", 3, 90_000);
    await world.objects.ready("steady", 3);
    expect((await mounts()).slice(1)).to.deep.equal(others);
  });

  slow("when the leading controller is killed, another one takes over", async () => {
    const spare = await world.startController("controller-1");
    world.controller.kill("SIGKILL");
    await world.controller.ended;
    world.controller = spare;
    await world.apply("failover", { volume: memory, mounts: [{ name: "host", path: "/mnt/nodevolume/failover" }] });
    await world.objects.ready("failover", 3, 60_000);
  });

  it("a Node that joins gets every volume that selects it, with nobody doing anything", async () => {
    const node = await world.addNode("node-4", { "example.com/late": "yes" });
    await world.objects.ready("steady", 4, 30_000);
    expect(await node.mountsAt(path)).to.have.length(1);
    await world.cluster.kubectl.run(["taint", "node", "node-4", "example.com/gone=:NoExecute"]);
    await world.objects.until(
      "the volume to be given back",
      20_000,
      async () => (await node.mountsAt(path)).length === 0,
    );
    await world.objects.ready("steady", 3);
    await world.objects.until("the node to hold nothing", 20_000, () =>
      [...world.objects.intents.values()].every((intent) => intent.spec.nodeName !== node.name),
    );
    await node.agent.stop();
    await node.host.stop();
    await world.cluster.admin.call("DELETE", "/api/v1/nodes/node-4");
  });
});

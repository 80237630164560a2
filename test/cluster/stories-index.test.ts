import { expect } from "chai";
import { mergePatch } from "../../hack/lib/api-client.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
const states = "/apis/nodevolume.dev/v1alpha1/nodevolumestates";
const path = "/mnt/nodevolume/indexed";
const moved = "/mnt/nodevolume/indexed-moved";

slowSuite("an index of intents in each node", () => {
  let world: World;
  const node = () => world.nodes[0];
  const state = () => world.objects.states.get(node().name);
  const ready = () => state()?.status.conditions?.find(({ type }) => type === "Ready");
  /** What the index must say, and what it says. */
  const inLine = () => {
    const own = [...world.objects.intents.values()].filter(({ spec }) => spec.nodeName === node().name);
    const wanted = own.map(({ metadata: { name, uid, generation } }) => `${name} ${uid} ${generation}`).sort();
    const index = state()?.spec?.intents?.map(({ name, uid, generation }) => `${name} ${uid} ${generation}`);
    return index !== undefined && index.sort().join() === wanted.join();
  };
  const set = (at: string) => ({ volume: memory, mounts: [{ name: "host", path: at }] });
  const mounted = async (at: string) => (await node().mountsAt(at)).length === 1;

  async function exchangeController(flags: readonly string[]): Promise<void> {
    await world.controller.stop();
    world.controller = await world.startController("controller-0", flags);
  }

  async function exchangeAgent(flags: readonly string[]): Promise<void> {
    node().agent.kill("SIGTERM");
    await node().agent.ended;
    node().agent = node().startAgent(flags);
  }

  before(async function () {
    world = await testWorld(this);
    await world.apply("indexed", set(path));
    await world.objects.ready("indexed", 3);
  });

  after(async () => {
    if (world === undefined) return;
    await exchangeAgent([]);
    await exchangeController([]);
    await world.objects.until("no index to be left", 30_000, () => state()?.spec === undefined);
    await world.remove("indexed", "indexed-late");
  });

  it("an agent that starts without one says so, and leaves what is mounted as it is", async () => {
    const before = await node().mountsAt(path);
    await exchangeAgent(["--intents", "Index"]);
    await world.objects.until("the agent to miss the index", 30_000, () => ready()?.reason === "IndexMissing");
    expect(ready()).to.include({ status: "False" });
    expect(ready()?.message).to.contain("--index-intents");
    expect(state()?.status.synced).to.equal(false);
    expect(await node().mountsAt(path)).to.deep.equal(before);
  });

  it("once the controller keeps one the agent carries on, mounts what is new and changes what it has", async () => {
    const before = await node().mountsAt(path);
    await exchangeController(["--index-intents", "true"]);
    await world.objects.until("the index to be there", 30_000, inLine);
    await world.objects.until("the agent to have read it", 30_000, () => ready()?.status === "True");
    expect(await node().mountsAt(path)).to.deep.equal(before);
    await world.apply("indexed-late", set("/mnt/nodevolume/indexed-late"));
    await world.objects.ready("indexed-late", 3);
    await world.apply("indexed", set(moved));
    await world.objects.until(
      "the volume to have moved",
      30_000,
      async () => (await mounted(moved)) && !(await mounted(path)),
    );
    await world.objects.ready("indexed", 3);
    await world.objects.until("the index to be in line", 10_000, inLine);
  });

  it("an agent that starts anew by the index repairs what was unmounted meanwhile", async () => {
    const epoch = world.objects.agentEpoch(node().name);
    node().agent.kill("SIGKILL");
    await node().agent.ended;
    await node().host.run("umount", moved);
    node().agent = node().startAgent(["--intents", "Index"]);
    await world.objects.until("the agent to look", 30_000, () => world.objects.agentEpoch(node().name) > epoch);
    await world.objects.until("the mount to be there", 20_000, () => mounted(moved));
    await world.objects.ready("indexed", 3);
  });

  for (const [what, spec] of [
    ["emptied", { intents: [] }],
    ["taken away", null],
  ] as const) {
    it(`an index that an administrator has ${what} takes nothing down, and the controller mends it`, async () => {
      const before = [await node().mountsAt(moved), await node().mountsAt("/mnt/nodevolume/indexed-late")];
      const { admin } = world.cluster;
      const body = { spec };
      const version = state()?.metadata.resourceVersion ?? "";
      const answer = await admin.call("PATCH", `${states}/${node().name}`, { contentType: mergePatch, body });
      expect(answer.status).to.equal(200);
      await world.objects.until("the index to be mended", 20_000, () => {
        return inLine() && Number(state()?.metadata.resourceVersion) > Number(version);
      });
      await world.objects.until("the agent to go by it", 20_000, () => ready()?.status === "True");
      const after = [await node().mountsAt(moved), await node().mountsAt("/mnt/nodevolume/indexed-late")];
      expect(after).to.deep.equal(before);
      await world.objects.ready("indexed", 3);
    });
  }

  it("the agent's own token does not write it, by a patch of the object or of its status", async () => {
    const { name, uid } = node();
    const boundTo = { kind: "Node", name, uid } as const;
    const agent = world.cluster.as(await world.cluster.token("nodevolume-agent", boundTo));
    const body = { spec: { intents: [] } };
    const write = (at: string) => agent.call("PATCH", `${states}/${name}${at}`, { contentType: mergePatch, body });
    expect((await write("")).status).to.equal(403);
    const before = state()?.spec;
    expect((await write("/status")).status).to.equal(200);
    expect(state()?.spec).to.deep.equal(before);
  });

  it("what is deleted is taken down and gone, and the index with it", async () => {
    await world.remove("indexed-late");
    expect(await mounted("/mnt/nodevolume/indexed-late")).to.equal(false);
    await world.objects.until("the index to be in line", 10_000, inLine);
    expect(state()?.spec?.intents?.some(({ name }) => name.includes("indexed-late"))).to.equal(false);
  });

  it("a controller without it takes the index away, and the agent keeps what it has", async () => {
    const before = await node().mountsAt(moved);
    await exchangeController([]);
    await world.objects.until("the index to be gone", 30_000, () => state()?.spec === undefined);
    await world.objects.until("the agent to say so", 30_000, () => ready()?.reason === "IndexMissing");
    expect(await node().mountsAt(moved)).to.deep.equal(before);
  });
});

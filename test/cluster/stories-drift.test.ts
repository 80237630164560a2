import { expect } from "chai";
import { testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };

describe("behind the agent's back", () => {
  let world: World;
  const path = "/mnt/nodevolume/drift";
  before(async function () {
    world = await testWorld(this);
    await world.apply("drift", { volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.ready("drift", 3);
  });
  after(() => world?.remove("drift"));

  it("a mount that is gone comes back, with what was in it", async () => {
    const [node] = world.nodes;
    await node.host.run("sh", "-c", `echo kept > ${path}/file`);
    await node.host.run("umount", path);
    await world.objects.until("the mount to be back", 5_000, async () => (await node.mountsAt(path)).length === 1);
    expect(await node.host.run("cat", `${path}/file`)).to.equal("kept\n");
    await world.objects.ready("drift", 3);
  });

  it("a remount on the host, which no event in the agent's namespace tells of, is undone", async () => {
    const [node] = world.nodes;
    await node.host.run("mount", "-o", "remount,bind,ro,suid", path);
    await world.objects.until("the flags to be as before", 10_000, async () => {
      const [mount = ""] = await node.mountsAt(path);
      return / rw,nosuid,nodev,/.test(mount);
    });
    expect(await node.mountsAt(path)).to.have.length(1);
    await world.objects.ready("drift", 3);
  });

  it("a mount that the host made private and unmounted comes back, though the agent still has it", async () => {
    const [node] = world.nodes;
    // The agent sees the first of the two and may repair before the second; both are to be over when it looks.
    node.agent.kill("SIGSTOP");
    await node.host.run("mount", "--make-private", path);
    await node.host.run("umount", path);
    expect(await node.mountsAt(path)).to.deep.equal([]);
    node.agent.kill("SIGCONT");
    await world.objects.until("the mount to be there", 10_000, async () => (await node.mountsAt(path)).length === 1);
    await world.objects.ready("drift", 3);
  });

  it("a foreign mount on top is reported and not touched; when it goes, all is well again", async () => {
    const [, node] = world.nodes;
    await node.host.run("mount", "-t", "tmpfs", "foreign", path);
    await world.objects.until("the drift to show", 10_000, () => {
      return world.objects.intentOn("drift", node.name)?.status?.drift?.class === "Stacked";
    });
    await world.objects.until(
      "the set to count it",
      10_000,
      () => world.objects.sets.get("drift")?.status?.drifted === 1,
    );
    expect((await node.mountsAt(path))[0]).to.include("- tmpfs foreign");
    await node.host.run("umount", path);
    await world.objects.ready("drift", 3);
    expect(await node.mountsAt(path)).to.have.length(1);
  });

  it("a suspended set reports what is missing, and mends it when it is resumed", async () => {
    const [, , node] = world.nodes;
    await world.apply("drift", { volume: memory, suspend: true, mounts: [{ name: "host", path }] });
    await world.objects.until("the intent to be suspended and taken in", 10_000, () => {
      const intent = world.objects.intentOn("drift", node.name);
      return intent?.spec.suspend === true && intent.status?.observedGeneration === intent.metadata.generation;
    });
    await node.host.run("umount", path);
    await world.objects.until("the drift to show", 10_000, () => {
      return world.objects.intentOn("drift", node.name)?.status?.drift?.class === "Missing";
    });
    expect(await node.mountsAt(path)).to.deep.equal([]);
    expect(world.objects.intentOn("drift", node.name)?.status?.plan).not.to.be.empty;
    await world.apply("drift", { volume: memory, suspend: false, mounts: [{ name: "host", path }] });
    await world.objects.until("the mount to be back", 10_000, async () => (await node.mountsAt(path)).length === 1);
    await world.objects.ready("drift", 3);
  });

  it("an intent that vanishes without a deletion unmounts nothing, and is reported", async () => {
    const [node] = world.nodes;
    const name = world.objects.intentOn("drift", node.name)?.metadata.name ?? "";
    const before = await node.mountsAt(path);
    // The controller would make the intent again at once: it has to stand still for the absence to be seen.
    process.kill(world.controller.pid, "SIGSTOP");
    try {
      const patch = ["patch", "nvi", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}'];
      await world.cluster.adminKubectl.run(patch);
      await world.cluster.adminKubectl.run(["delete", "nvi", name]);
      await world.objects.until("the node to report the orphan", 15_000, () => {
        const orphans = world.objects.states.get(node.name)?.status?.orphans ?? [];
        return orphans.some((orphan) => orphan.path === path && orphan.reason === "UnexplainedRemoval");
      });
      expect(await node.mountsAt(path)).to.deep.equal(before);
      const of = `involvedObject.kind=NodeVolumeState,involvedObject.name=${node.name},reason=UnexplainedRemoval`;
      await world.objects.until("an Event of it on the node's state", 15_000, async () => {
        const events = await world.cluster.adminKubectl.run(["get", "events", "-o", "name", "--field-selector", of]);
        return events.trim() !== "";
      });
    } finally {
      process.kill(world.controller.pid, "SIGCONT");
    }
    await world.objects.until("a new intent", 30_000, () => world.objects.intentOn("drift", node.name) !== undefined);
    await world.objects.ready("drift", 3);
    expect(await node.mountsAt(path)).to.deep.equal(before);
  });
});

describe("mode Observe", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
  });
  after(() => world?.remove("observer"));

  it("touches nothing, and shows the plan that Manage would carry out", async () => {
    const path = "/mnt/nodevolume/observed";
    await world.apply("observer", { mode: "Observe", volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.until("a plan on each node", 20_000, () => {
      const intents = world.objects.intentsOf("observer");
      return intents.length === 3 && intents.every((intent) => (intent.status?.plan ?? []).length > 0);
    });
    for (const intent of world.objects.intentsOf("observer")) {
      expect(intent.spec.grant).to.equal(undefined);
      expect(intent.status?.plan?.join("\n")).to.include(path);
    }
    for (const node of world.nodes) {
      expect(await node.mountsAt(path)).to.deep.equal([]);
      expect(await node.host.run("sh", "-c", `ls -d ${path} 2>/dev/null || true`)).to.equal("");
    }
  });
});

import { expect } from "chai";
import { testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };

describe("a set on three nodes", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
  });

  it("becomes Ready, with the mount on each host and nosuid, nodev from the start", async () => {
    const path = "/mnt/nodevolume/basic";
    await world.apply("basic", { volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.ready("basic", 3);
    for (const node of world.nodes) {
      const mounts = await node.mountsAt(path);
      expect(mounts, node.name).to.have.length(1);
      expect(mounts[0]).to.match(/rw,nosuid,nodev,.* shared:.* - tmpfs .*size=1024k/);
    }
    const table = await world.cluster.kubectl.run(["get", "nvs", "basic", "--no-headers"]);
    expect(table.trim().split(/\s+/).slice(0, 5)).to.deep.equal(["basic", "True", "AllReady", "3", "3"]);
  });

  it("kubectl wait comes back, for the intent as for its node", async () => {
    const [node] = world.nodes;
    const intent =
      world.objects.intentsOf("basic").find(({ spec }) => spec.nodeName === node.name)?.metadata.name ?? "";
    for (const object of [`nvi/${intent}`, `nvstate/${node.name}`]) {
      await world.cluster.kubectl.run(["wait", object, "--for=condition=Ready", "--timeout=20s"]);
    }
  });

  it("server-side apply of the same set writes nothing the second time", async () => {
    const version = () => world.objects.sets.get("basic")?.metadata.resourceVersion;
    const read = () => world.cluster.kubectl.run(["get", "nvs", "basic", "-o", "jsonpath={.metadata.resourceVersion}"]);
    await world.apply("basic", { volume: memory, mounts: [{ name: "host", path: "/mnt/nodevolume/basic" }] });
    expect(await read()).to.equal(version());
  });

  it("a change of mount options reaches the kernel without a remount from scratch", async () => {
    const path = "/mnt/nodevolume/basic";
    const [node] = world.nodes;
    await node.host.run("sh", "-c", `echo kept > ${path}/file`);
    await world.apply("basic", { volume: memory, mounts: [{ name: "host", path, mountOptions: ["noexec"] }] });
    await world.objects.until("noexec on every node", 30_000, async () =>
      (await Promise.all(world.nodes.map((n) => n.mountsAt(path)))).every(
        (lines) => lines.length === 1 && lines[0]?.includes("noexec"),
      ),
    );
    await world.objects.ready("basic", 3);
    expect(await node.host.run("cat", `${path}/file`)).to.equal("kept\n");
  });

  it("a change of path mounts the new one before it unmounts the old one", async () => {
    const [node] = world.nodes;
    const seen: string[] = [];
    await world.apply("basic", { volume: memory, mounts: [{ name: "host", path: "/mnt/nodevolume/moved" }] });
    await world.objects.until("the old path to be gone", 30_000, async () => {
      const [old, fresh] = [await node.mountsAt("/mnt/nodevolume/basic"), await node.mountsAt("/mnt/nodevolume/moved")];
      seen.push(`${old.length}${fresh.length}`);
      return old.length === 0;
    });
    expect(seen, "never without either").not.to.include("00");
    await world.objects.ready("basic", 3);
    expect(await node.host.run("cat", "/mnt/nodevolume/moved/file")).to.equal("kept\n");
  });

  it("a change of source is another volume: the old intent goes, the new one takes the path", async () => {
    const path = "/mnt/nodevolume/moved";
    const before = world.objects.intentsOf("basic").map((intent) => intent.metadata.name);
    const source = { hostPath: { path: "/mnt/another-source", type: "DirectoryOrCreate" } };
    await world.apply("basic", { volume: { source }, mounts: [{ name: "host", path }] });
    await world.objects.ready("basic", 3, 60_000);
    await world.objects.until("the old intents to be gone", 30_000, () =>
      world.objects.intentsOf("basic").every((intent) => !before.includes(intent.metadata.name)),
    );
    expect(world.objects.intentsOf("basic")).to.have.length(3);
    for (const node of world.nodes) {
      const mounts = await node.mountsAt(path);
      expect(mounts, node.name).to.have.length(1);
      expect(mounts[0]).to.include(" /another-source ");
    }
  });

  it("deleting the set unmounts everywhere and leaves no intent", async () => {
    await world.remove("basic");
    expect(world.objects.intentsOf("basic")).to.deep.equal([]);
    for (const node of world.nodes) {
      expect(await node.mountsAt("/mnt/nodevolume/moved"), node.name).to.deep.equal([]);
      expect(await node.host.run("ls", "/mnt/another-source")).to.equal("");
    }
  });

  it("fails on one node: that intent alone says why, and goes on when the cause is gone", async () => {
    const path = "/mnt/nodevolume/partial";
    const [first, second, third] = world.nodes;
    for (const node of [first, second]) await node.host.run("mkdir", "-p", "/mnt/only-here/data");
    await world.apply("partial", {
      volume: { source: { hostPath: { path: "/mnt/only-here/data", type: "Directory" } } },
      mounts: [{ name: "host", path }],
    });
    await world.objects.until("the failure to show on the set", 30_000, () => {
      const status = world.objects.sets.get("partial")?.status;
      return status?.ready === 2 && status.failed === 1;
    });
    const intent = world.objects.intentOn("partial", third.name);
    expect(intent?.status?.waiting?.reason).to.equal("SourceNotFound");
    expect(intent?.status?.waiting?.message).to.include("/mnt/only-here/data");
    const [failing] = world.objects.sets.get("partial")?.status?.failing ?? [];
    expect([failing?.node, failing?.reason]).to.deep.equal([third.name, "SourceNotFound"]);
    for (const node of [first, second]) {
      const ready = world.objects.intentOn("partial", node.name)?.status?.conditions?.find((c) => c.type === "Ready");
      expect(ready?.status, node.name).to.equal("True");
    }
    await third.host.run("mkdir", "-p", "/mnt/only-here/data");
    await world.objects.ready("partial", 3);
    await world.remove("partial");
  });
});

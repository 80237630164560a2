import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { findCondition } from "../../src/api/conditions.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };

describe("content of the API", () => {
  let world: World;
  const namespace = "content";
  before(async function () {
    world = await testWorld(this);
    await world.cluster.adminKubectl.run(["create", "namespace", namespace]);
    const data = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace },
      data: { motd: "one" },
    };
    await world.cluster.adminKubectl.run(["apply", "-f", "-"], JSON.stringify(data));
  });
  after(() => world?.remove("settings"));

  const volume = { source: { configMap: { namespace, name: "settings" } } };
  const path = "/mnt/nodevolume/settings";

  it("waits with SetUp blocked until the agents may read it, saying so", async () => {
    await world.apply("settings", { volume, mounts: [{ name: "host", path, readOnly: true }] });
    await world.objects.until("ConfigMapAccessDenied on each node", 30_000, () => {
      const intents = world.objects.intentsOf("settings");
      return intents.length === 3 && intents.every((i) => i.status?.waiting?.reason === "ConfigMapAccessDenied");
    });
  });

  it("is mounted once components/object-access is applied there", async () => {
    const component = readFileSync(join(root, "config/components/object-access/role.yaml"), "utf8");
    const access = component.replaceAll("replace-with-the-names", "settings");
    await world.cluster.adminKubectl.run(["apply", "-n", namespace, "-f", "-"], access);
    await world.objects.ready("settings", 3, 60_000);
    for (const node of world.nodes) expect(await node.host.run("cat", `${path}/motd`), node.name).to.equal("one");
  });

  slow("is an orphan of no node, though each agent sees it a second time beneath its host root", async () => {
    const isReady = ({ status }: NodeVolumeIntent) => findCondition(status?.conditions, "Ready")?.status === "True";
    for (const { name } of world.nodes) {
      const state = () => world.objects.states.get(name)?.status;
      await world.objects.until(`${name} to count what it has`, 30_000, () => {
        const there = [...world.objects.intents.values()].filter(({ spec }) => spec.nodeName === name);
        return state()?.volumes === there.length && state()?.ready === there.filter(isReady).length;
      });
      const orphans = state()?.orphans ?? [];
      expect(orphans.filter((orphan) => orphan.path.endsWith(path))).to.deep.equal([]);
    }
  });

  it("changes as one on every host when the ConfigMap changes", async () => {
    const body = JSON.stringify({ data: { motd: "two", more: "x" } });
    await world.cluster.adminKubectl.run([
      "patch",
      "configmap",
      "settings",
      "-n",
      namespace,
      "--type=merge",
      "-p",
      body,
    ]);
    for (const node of world.nodes) {
      await world.objects.until(`the new content on ${node.name}`, 20_000, async () => {
        const files = await node.host.run("sh", "-c", `cat ${path}/motd; cat ${path}/more 2>/dev/null || true`);
        expect(files, "never a mixture").to.be.oneOf(["one", "twox"]);
        return files === "twox";
      });
    }
  });
});

describe("two sets", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
  });
  after(() => world?.remove("has-it", "wants-it", "labelled"));

  it("on one path: what is mounted stays, the other sets nothing up, both say Conflict", async () => {
    const path = "/mnt/nodevolume/contested";
    await world.apply("has-it", { volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.ready("has-it", 3);
    const before = await Promise.all(world.nodes.map((node) => node.mountsAt(path)));
    await world.apply("wants-it", { volume: memory, mounts: [{ name: "host", path: `${path}/deeper` }] });
    await world.objects.until("both to say Conflict", 20_000, () =>
      ["has-it", "wants-it"].every((name) => {
        const conflict = world.objects.sets.get(name)?.status?.conditions?.find((c) => c.type === "Conflict");
        return conflict?.status === "True" && conflict.message.includes(name === "has-it" ? "wants-it" : "has-it");
      }),
    );
    expect(world.objects.intentsOf("wants-it")).to.deep.equal([]);
    expect(await Promise.all(world.nodes.map((node) => node.mountsAt(path)))).to.deep.equal(before);
  });

  it("follow a label: a node that gets it gets the volume, a node that loses it gives it back", async () => {
    const path = "/mnt/nodevolume/labelled";
    const [node] = world.nodes;
    await world.apply("labelled", {
      nodeSelector: { "example.com/disk": "fast" },
      volume: memory,
      mounts: [{ name: "host", path }],
    });
    await world.objects.until(
      "the set to select nothing",
      20_000,
      () => world.objects.sets.get("labelled")?.status?.desired === 0,
    );
    await world.cluster.kubectl.run(["label", "node", node.name, "example.com/disk=fast"]);
    await world.objects.ready("labelled", 1);
    expect(await node.mountsAt(path)).to.have.length(1);
    await world.cluster.kubectl.run(["label", "node", node.name, "example.com/disk-"]);
    await world.objects.until("the mount to be gone", 20_000, async () => (await node.mountsAt(path)).length === 0);
    await world.objects.until("the intent to be gone", 20_000, () => world.objects.intentsOf("labelled").length === 0);
  });
});

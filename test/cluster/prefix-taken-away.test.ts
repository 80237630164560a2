// An upgrade to a config/default without /mnt/nodevolume, of an installation whose sets have paths there.
import { join } from "node:path";
import { expect } from "chai";
import { agentIdentity } from "../../hack/lib/control-plane/identities.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { startAgent } from "../../hack/lib/roles.ts";
import { type TestNode, testWorld, type World } from "../lib/cluster/world.ts";

const name = "prefix-taken-away";
const path = `${layout.prefix}/${name}`;
const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
/**
 * As a pod has it whose volumes the prefix is none of: what the node mounts there is seen beneath the host's root
 * alone.
 */
const withoutVolume = [
  "sh",
  "-c",
  `mount --make-rslave ${layout.prefix} && umount -R ${layout.prefix} && exec "$@"`,
  "sh",
];

slowSuite("an allowed prefix that is taken away", () => {
  let world: World;
  let node: TestNode;

  before(async function () {
    world = await testWorld(this);
    node = await world.addNode(name);
    const nodeSelector = { "kubernetes.io/hostname": name };
    await world.apply(name, { nodeSelector, volume: memory, mounts: [{ name: "host", path }] });
    await world.objects.ready(name, 1, 30_000);
  });
  after(async () => {
    await node?.agent.stop();
    await node?.proxy.stop();
    await node?.host.stop();
    await world?.cluster.adminKubectl.run(["delete", "--ignore-not-found", `node/${name}`, `nodevolumestate/${name}`]);
  });

  async function agentWithout(): Promise<void> {
    await node.agent.stop();
    const { controlPlane, directory } = world.cluster;
    node.agent = startAgent(node.host, {
      server: controlPlane.server,
      identity: await agentIdentity(controlPlane, node, join(directory, "agents", name)),
      logFile: join(directory, "logs", `${name}.log`),
      env: process.env,
      allowedPrefixes: [layout.defaultPrefix],
      startedBy: withoutVolume,
    });
    const told = () => world.objects.intentOn(name, name)?.status?.waiting?.reason;
    await world.objects.until("PathNotAllowed", 30_000, () => told() === "PathNotAllowed");
  }
  async function agentAgain(): Promise<void> {
    await node.agent.stop();
    node.agent = node.startAgent();
  }

  it("leaves what is mounted there as it is, and says why; allowed again, it is the same mount, and in order", async () => {
    const before = await node.mountsAt(path);
    expect(before).to.have.length(1);
    await agentWithout();
    expect(await node.mountsAt(path)).to.deep.equal(before);
    await agentAgain();
    await world.objects.until("it to be in order again", 30_000, () => {
      const { waiting, state } = world.objects.intentOn(name, name)?.status ?? {};
      return waiting === undefined && state === "Mounted";
    });
    expect(await node.mountsAt(path)).to.deep.equal(before);
  });

  it("a set that is deleted meanwhile waits until it is allowed again, and then unmounts", async () => {
    const before = await node.mountsAt(path);
    await agentWithout();
    const epoch = world.objects.agentEpoch(name);
    await world.cluster.kubectl.run(["delete", "nodevolumesets", name, "--wait=false"]);
    await world.objects.until("it to say why it is not unmounted", 60_000, () => {
      const { metadata, status } = world.objects.intentOn(name, name) ?? {};
      const { state, waiting } = status ?? {};
      const leaving = metadata?.deletionTimestamp !== undefined && state === "Unmounting";
      return leaving && waiting?.reason === "PathNotAllowed";
    });
    expect(await node.mountsAt(path)).to.deep.equal(before);
    await agentAgain();
    await world.objects.until("the set to be gone", 60_000, () => !world.objects.sets.has(name));
    expect(world.objects.agentEpoch(name)).to.be.greaterThan(epoch);
    expect(await node.mountsAt(path)).to.deep.equal([]);
  });
});

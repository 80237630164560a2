// Pods whose volumes somebody may still have where the agent cannot look, or nobody is: a real kubelet ends them all
// the same, and the release waits.
import { cpus } from "node:os";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { need } from "../lib/asserts/requirements.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofSet } from "../lib/cluster/pods.ts";
import { type LoopDevice, loopDevice } from "../lib/kernel/disks/loop-device.ts";

/** Milliseconds. */
const patience = 60_000;
const allowedNamespaces = { names: ["default"] };

slowSuite("a pod's volume that is given back to a real kubelet", () => {
  let world: KubeletWorld;
  let disk: LoopDevice | undefined;
  const ends: (() => Promise<unknown>)[] = [];

  before(async function () {
    world = await kubeletWorld(this);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  after(async function () {
    await endSuite(this, world);
    disk?.[Symbol.dispose]();
  });

  /** Has the set removed, and waits until its volume cannot be released. @returns why */
  async function keptBy(set: string): Promise<string> {
    const { objects, node, kubectl } = world;
    const waiting = () => objects.intentOn(set, node.name)?.status?.waiting;
    await kubectl.run(["delete", "nodevolumeset", set, "--wait=false"]);
    await objects.until(`${set} to be StillReferenced`, patience, () => waiting()?.reason === "StillReferenced");
    expect(objects.intentOn(set, node.name)?.status).to.include({ inUse: true });
    return waiting()?.message ?? "";
  }

  /** Kills the agent and starts another, which has looked. */
  async function restart(startedBy?: readonly string[]): Promise<void> {
    const { objects, node } = world;
    const before = objects.agentEpoch(node.name);
    await world.restartAgent([], startedBy);
    await objects.until("the new agent to have looked", patience, () => objects.agentEpoch(node.name) > before);
  }

  it("lets its pod end although processes of the node cannot be read; who they are is said until they can be", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { pods } = world;
    disk = loopDevice(world.world.directory, "given-back", 16);
    const volume = { source: { local: { path: disk.path } }, fsType: "ext4" };
    await world.apply("unread", { volume, allowedNamespaces });
    await pods.create("unread", [ofSet("data", "unread")]);
    await pods.ready(patience, "unread");
    await restart(["setpriv", "--bounding-set=-sys_ptrace"]);
    ends.push(() => restart());
    await pods.delete("unread");
    await pods.gone(patience, "unread");
    const why = await keptBy("unread");
    expect(why)
      .to.match(/process \d+ \([^)]+\): EACCES/)
      .and.to.contain("does not list mount namespaces");
    console.log(`    ${why}`);
    await ends.pop()?.();
    await world.remove("unread");
  });

  it("lets its pod end, and is StillReferenced while a file keeps a mount namespace that no process is in", async () => {
    const { pods, node } = world;
    await world.apply("kept", { volume: { source: { emptyDir: { medium: "Memory" } } }, allowedNamespaces });
    await pods.create("kept", [ofSet("data", "kept")]);
    await pods.ready(patience, "kept");
    const directory = `${world.world.directory}/keeps`;
    const file = `${directory}/kept`;
    await node.host.run("sh", "-ec", `mkdir ${directory}; mount --bind ${directory} ${directory}; touch ${file}`);
    ends.push(() => node.host.run("umount", "-lR", directory));
    await node.host.run("mount", "--make-private", directory);
    await node.host.run("sh", "-ec", keepNew(file));
    const namespace = `mnt:[${(await node.host.run("stat", "-c", "%i", file)).trim()}]`;

    await pods.delete("kept");
    await pods.gone(patience, "kept");
    const why = await keptBy("kept");
    expect(why).to.contain(`mount namespace ${namespace} (no process is in it: the file ${file} keeps it)`);
    console.log(`    ${why}`);
    await ends.pop()?.();
    await world.remove("kept");
  });
});

/**
 * Only a namespace with a higher id than that of the node can be mounted there, and each processor gives ids of its
 * own.
 */
function keepNew(file: string): string {
  const tries = cpus().map((_, cpu) => `taskset -c ${cpu} unshare --mount=${file} --propagation private true`);
  return tries.join(" || ");
}

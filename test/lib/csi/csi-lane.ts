// One cluster for all stories about CSI drivers: sidecars, kube-controller-manager, our controller, and nodes with an
// agent.
import { join } from "node:path";
import { loopXfs, loopXfsName, type RunningDriver } from "../../../hack/lib/csi/driver.ts";
import type { RunningProcess } from "../../../hack/lib/process.ts";
import type { Xfsprogs } from "../../../hack/lib/tools/xfsprogs.ts";
import { auditPolicy } from "../../csi/history/audit.ts";
import { startCluster } from "../cluster/cluster.ts";
import { type Objects, observe } from "../cluster/objects.ts";
import { type CSITestNode, CSIWorld } from "./csi-world.ts";

export interface StoryNode extends CSITestNode {
  readonly driver: RunningDriver;
  agent: RunningProcess;
  /** Kills the agent, and starts another. */
  restartAgent(): Promise<void>;
}

export interface CSILane {
  readonly world: CSIWorld;
  /** Of our own kinds, as a watch shows them. */
  readonly objects: Objects;
  readonly attacher: RunningProcess;
  /** kube-controller-manager, as it was started last. */
  controllerManager: RunningProcess;
  /** Each write of a VolumeAttachment. */
  readonly auditFile: string;
  /** Makes a node, if there is none of this name. @param flags further ones of its driver */
  node(name: string, flags?: readonly string[]): Promise<StoryNode>;
}

export const storageClass = "loop-xfs";

/** Its driver is the one that the sidecars call. */
const firstNode = "node-1";

let shared: Promise<CSILane> | undefined;

/** The lane's world, started for whoever asks first. */
export function csiLane(xfsprogs: Xfsprogs): Promise<CSILane> {
  shared ??= start(xfsprogs);
  return shared;
}

// Of the whole lane: its loop devices are the machine's, and do not end with the sandbox.
after(async function () {
  if (shared === undefined) return;
  this.timeout(120_000);
  await (await shared).world[Symbol.asyncDispose]();
});

async function start(xfsprogs: Xfsprogs): Promise<CSILane> {
  const cluster = await startCluster({ audit: auditPolicy });
  const world = await CSIWorld.start(cluster);
  world.onEnd(() => cluster.controlPlane.stop());
  try {
    return await startIn(world, xfsprogs);
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
}

async function startIn(world: CSIWorld, xfsprogs: Xfsprogs): Promise<CSILane> {
  const { adminKubectl, people, controlPlane } = world.cluster;
  // Without it no pod is taken, not even on trial; its controller is not among those that run here.
  await adminKubectl.run(["create", "serviceaccount", "default"]);
  await world.objects.csiDriver(loopXfsName);
  await world.objects.storageClass(storageClass, loopXfsName);
  const nodes = new Map<string, StoryNode>();
  const node = async (name: string, flags: readonly string[] = []): Promise<StoryNode> => {
    const found = nodes.get(name) ?? (await storyNode(world, name, { storage: world.storage, xfsprogs, flags }));
    nodes.set(name, found);
    return found;
  };
  const { driver } = await node(firstNode);
  await world.startSidecar("csi-provisioner", driver);
  const attacher = await world.startSidecar("csi-attacher", driver);
  await world.startSidecar("csi-resizer", driver);
  const controllerManager = await world.startControllerManager();
  await world.startController();
  const auditFile = join(controlPlane.directory, "audit.log");
  return { world, objects: observe(people), attacher, controllerManager, auditFile, node };
}

async function storyNode(world: CSIWorld, name: string, options: Parameters<typeof loopXfs>[1]): Promise<StoryNode> {
  const node = await world.addNode(name);
  const driver = await node.startDriver(loopXfs(`id-of-${name}`, options));
  const story: StoryNode = {
    ...node,
    driver,
    agent: await node.startAgent(),
    async restartAgent() {
      story.agent.kill("SIGKILL");
      await story.agent.ended;
      story.agent = await node.startAgent();
    },
  };
  return story;
}

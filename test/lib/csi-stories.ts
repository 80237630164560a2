// What stories about volumes of CSI drivers begin with: nodes with a driver and our agent, our controller, and the sidecars.
import { loopXfs, loopXfsName, type RunningDriver } from "../../hack/lib/csi/driver.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import type { Xfsprogs } from "../../hack/lib/tools/xfsprogs.ts";
import { readRecord } from "../drivers/lib/record.ts";
import { prepare, type TestCluster } from "./cluster.ts";
import { needXfsprogs } from "./csi-needs.ts";
import { type CSITestNode, CSIWorld } from "./csi-world.ts";
import { type Objects, observe } from "./objects.ts";

export interface StoryNode extends CSITestNode {
  readonly driver: RunningDriver;
  agent: RunningProcess;
  /** Kills the agent, and starts another. */
  restartAgent(): Promise<void>;
}

export interface Stories {
  readonly world: CSIWorld;
  readonly nodes: readonly StoryNode[];
  /** Of our own kinds, as a watch shows them. */
  readonly objects: Objects;
  readonly kubectl: TestCluster["kubectl"];
  readonly attacher: RunningProcess;
  /** kube-controller-manager, as it was started with the rest. */
  readonly controllerManager: RunningProcess;
  /** Makes or changes a set as a platform administrator. */
  apply(name: string, spec: object): Promise<void>;
  remove(...names: string[]): Promise<void>;
  /** The effects that drivers have ended, of one volume, in their order. */
  effects(volumeHandle: string): string[];
}

export const storageClass = "loop-xfs";

export interface StoriesOptions {
  readonly nodes: readonly string[];
  readonly cluster?: () => Promise<TestCluster>;
  /** Further flags of a node's driver, by the node's name. */
  readonly flags?: { readonly [node: string]: readonly string[] };
}

/** For a before hook; skips by name what the machine cannot do. The caller disposes of the world. */
export async function startStories(context: Mocha.Context, options: StoriesOptions): Promise<Stories> {
  prepare(context);
  const xfsprogs: Xfsprogs = await needXfsprogs(context);
  const world = await CSIWorld.start(await options.cluster?.());
  const { kubectl, people, adminKubectl } = world.cluster;
  // Without it no pod is taken, not even on trial; its controller is not among those that run here.
  await adminKubectl.run(["create", "serviceaccount", "default"]);
  await world.objects.csiDriver(loopXfsName);
  await world.objects.storageClass(storageClass, loopXfsName);
  const nodes: StoryNode[] = [];
  for (const name of options.nodes) {
    const node = await world.addNode(name);
    const driver = await node.startDriver(
      loopXfs(`id-of-${name}`, { storage: world.storage, xfsprogs, flags: options.flags?.[name] ?? [] }),
    );
    nodes.push(await withAgent(node, driver));
  }
  const [first] = nodes;
  if (first === undefined) throw new Error("a story needs a node");
  await world.startSidecar("csi-provisioner", first.driver);
  const attacher = await world.startSidecar("csi-attacher", first.driver);
  await world.startSidecar("csi-resizer", first.driver);
  const controllerManager = await world.startControllerManager();
  await world.startController();
  const objects = observe(people);
  return {
    world,
    nodes,
    objects,
    kubectl,
    attacher,
    controllerManager,
    async apply(name, spec) {
      const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec };
      await kubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(set));
    },
    async remove(...names) {
      await kubectl.run(["delete", "nodevolumesets", "--wait=false", "--ignore-not-found", ...names]);
      await objects.until(`${names.join(", ")} to be gone`, 240_000, () =>
        names.every((name) => !objects.sets.has(name)),
      );
    },
    effects(volumeHandle) {
      const lines = readRecord(world.storage.record);
      return lines.filter(({ kind, volume }) => kind === "end" && volume === volumeHandle).map(({ what }) => what);
    },
  };
}

async function withAgent(node: CSITestNode, driver: RunningDriver): Promise<StoryNode> {
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

/** The driver's name of a PersistentVolume. */
export function handleOf(volume: { readonly [key: string]: unknown }): string {
  return (volume["spec"] as { csi: { volumeHandle: string } }).csi.volumeHandle;
}

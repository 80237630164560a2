// A real node with everything: control plane, scheduler, kubelet, containers, a CSI driver with its sidecars, our
// controller and agent.

import { join } from "node:path";
import type { KubeObject } from "../../../hack/lib/csi/accounts.ts";
import { hostPath, type RunningDriver } from "../../../hack/lib/csi/driver.ts";
import { cannotMakeCgroups } from "../../../hack/lib/kubelet-node/cgroups.ts";
import { nodeUsers } from "../../../hack/lib/kubelet-node/start.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { type RunningProcess, tailOf } from "../../../hack/lib/process.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateNodeTools, locateTool } from "../../../hack/lib/tools/locate.ts";
import { CSIWorld, type KubeletTestNode } from "../csi/csi-world.ts";
import { prepare, startCluster, type TestCluster } from "./cluster.ts";
import { type Objects, observe } from "./objects.ts";
import { Pods } from "./pods.ts";

export interface KubeletWorld {
  readonly world: CSIWorld;
  readonly node: KubeletTestNode;
  readonly driver: RunningDriver;
  readonly objects: Objects;
  readonly kubectl: TestCluster["kubectl"];
  /** In the namespace default; of this suite. */
  readonly pods: Pods;
  agent(): RunningProcess;
  controller(): RunningProcess;
  /**
   * Kills the agent, and starts another.
   * @param flags beside those that it has here, or in place of them
   * @param startedBy RoleOptions.startedBy
   */
  restartAgent(flags?: readonly string[], startedBy?: readonly string[]): Promise<void>;
  restartController(): Promise<void>;
  /** Makes or changes a set as a platform administrator. */
  apply(name: string, spec: object): Promise<void>;
  remove(...names: string[]): Promise<void>;
  /** Makes a claim and waits for its volume. @returns its PV */
  claim(name: string, options?: { readonly storageClass: string; readonly size: string }): Promise<KubeObject>;
  /** Removes a claim that nothing uses any more, and waits until it is gone. */
  unclaim(...names: string[]): Promise<void>;
  /**
   * Removes the pods, sets and claims that the suite has made and that are still there: nobody else's test fails of
   * them.
   */
  end(): Promise<void>;
}

/** All of it but what each suite has of its own. */
type SharedWorld = Omit<KubeletWorld, "pods" | "apply" | "remove" | "claim" | "unclaim" | "end">;

/** Of the driver, and of its StorageClass. */
export const hostPathName = "hostpath.csi.k8s.io";

/** Milliseconds for pods to be gone: kubelet's next attempt at a volume that was busy may be two minutes away. */
const goingPatience = 180_000;
/** What kubelet has left is removed; after so long that other tests can look at it. */
const agentFlags = ["--reap-orphans-grace-period=2h"];

let shared: Promise<SharedWorld> | undefined;

/** The lane's world, started for whoever asks first, with pods of the suite's own; skips by name where it cannot be. */
export async function kubeletWorld(context: Mocha.Context): Promise<KubeletWorld> {
  prepare(context);
  const cgroups = cannotMakeCgroups();
  if (cgroups !== undefined) skipBecause(context, cgroups);
  const tools = await locateNodeTools({ env: process.env, report: (line) => console.log(`  ${line}`) });
  if ("missing" in tools) skipBecause(context, tools.missing);
  shared ??= start(tools);
  return forSuite(await shared);
}

/** For an after hook: also where a test of the suite has failed, and where its world never came to be. */
export async function endSuite(context: Mocha.Context, world: Pick<KubeletWorld, "end"> | undefined): Promise<void> {
  context.timeout(2 * goingPatience);
  await world?.end();
}

// Of the whole lane: cgroups do not end with the sandbox.
after(async function () {
  if (shared === undefined) return;
  this.timeout(120_000);
  const { world } = await shared;
  await world[Symbol.asyncDispose]();
});

async function start(tools: Parameters<CSIWorld["addKubeletNode"]>[0]): Promise<SharedWorld> {
  const cluster = await startCluster({ users: nodeUsers });
  const world = await CSIWorld.start(cluster);
  world.onEnd(() => cluster.controlPlane.stop());
  try {
    return await startIn(world, tools);
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
}

async function startIn(world: CSIWorld, tools: Parameters<CSIWorld["addKubeletNode"]>[0]): Promise<SharedWorld> {
  const { cluster } = world;
  const ours = join(root, "config/agent/csi-driver.yaml");
  const reaping = join(root, "config/components/reap-orphans/role.yaml");
  await cluster.adminKubectl.run(["apply", "--server-side", "-f", ours, "-f", reaping]);
  await world.objects.csiDriver(hostPathName, { podInfoOnMount: true });
  await world.objects.storageClass(hostPathName, hostPathName);
  const node = await world.addKubeletNode(tools);
  const program = await locateTool("hostpathplugin", { env: process.env, report: () => undefined });
  const driver = await node.startDriver(hostPath(node.name, program, `${world.directory}/volumes`));
  await world.startSidecar("csi-provisioner", driver);
  await world.startSidecar("csi-attacher", driver);
  let controller = await world.startController();
  let agent = await node.startAgent(agentFlags);
  const objects = observe(cluster.people);
  objects.describe = () =>
    [agent, controller, node.kubelet()]
      .flatMap(({ name, logFile }) => [`${name}:`, ...tailOf(logFile, 5).map((line) => `  ${line}`)])
      .join("\n");
  return {
    world,
    node,
    driver,
    objects,
    kubectl: cluster.kubectl,
    agent: () => agent,
    controller: () => controller,
    async restartAgent(flags = [], startedBy = []) {
      agent.kill("SIGKILL");
      await agent.ended;
      agent = await node.startAgent([...agentFlags, ...flags], startedBy);
    },
    async restartController() {
      controller.kill("SIGKILL");
      await controller.ended;
      controller = await world.startController();
    },
  };
}

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";

function forSuite(all: SharedWorld): KubeletWorld {
  const { world, objects, kubectl } = all;
  const pods = new Pods(world.cluster.admin);
  world.onEnd(() => pods[Symbol.dispose]());
  const sets = new Set<string>();
  const claimed = new Set<string>();
  const suite: KubeletWorld = {
    ...all,
    pods,
    async apply(name, spec) {
      sets.add(name);
      const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec };
      await kubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(set));
    },
    async remove(...names) {
      await kubectl.run(["delete", "nodevolumesets", "--wait=false", "--ignore-not-found", ...names]);
      await objects.until(`${names.join(", ")} to be gone`, 240_000, () =>
        names.every((name) => !objects.sets.has(name)),
      );
      for (const name of names) sets.delete(name);
    },
    async claim(name, options = { storageClass: hostPathName, size: "1Mi" }) {
      claimed.add(name);
      await world.objects.claim(name, options);
      return world.objects.bound(name);
    },
    async unclaim(...names) {
      for (const name of names) await world.objects.remove(`${claims}/${name}`);
      for (const name of names) claimed.delete(name);
    },
    async end() {
      await pods.clear(goingPatience);
      if (sets.size > 0) await suite.remove(...sets);
      await suite.unclaim(...claimed);
    },
  };
  return suite;
}

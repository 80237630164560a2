// Three nodes with an agent each, and a controller, on a control plane of their own: started once, shared by all
// stories.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentIdentity, controllerIdentity } from "../../../hack/lib/control-plane/identities.ts";
import { type PretendHost, startPretendHost } from "../../../hack/lib/pretend-node/node.ts";
import { createNodeObject, type NodeRef } from "../../../hack/lib/pretend-node/object.ts";
import { type RunningProcess, tailOf } from "../../../hack/lib/process.ts";
import { startAgent, startApiProxy, startController } from "../../../hack/lib/roles.ts";
import { bundles } from "./bundles.ts";
import { prepare, startCluster, type TestCluster } from "./cluster.ts";
import { type Objects, observe } from "./objects.ts";

export interface TestNode extends NodeRef {
  readonly host: PretendHost;
  agent: RunningProcess;
  /** What it asks the API server through, and what starts that again. */
  proxy: RunningProcess;
  startProxy(): RunningProcess;
  /** Starts an agent, in a mount namespace of its own, as a new container would be. */
  startAgent(flags?: readonly string[]): RunningProcess;
  /** What is mounted at a path, top-most first; each as a line of the host's mountinfo. */
  mountsAt(path: string): Promise<string[]>;
}

export interface World {
  readonly cluster: TestCluster;
  readonly nodes: readonly [TestNode, TestNode, TestNode];
  controller: RunningProcess;
  startController(name?: string, flags?: readonly string[]): Promise<RunningProcess>;
  /** The objects as a watch shows them, and waiting for what they will be. */
  readonly objects: Objects;
  /**
   * Makes or changes a set as a platform administrator, and waits until `objects` show it.
   * @throws Error if it is being deleted
   */
  apply(name: string, spec: object): Promise<void>;
  /** Deletes sets and waits until they are gone. */
  remove(...names: string[]): Promise<void>;
  addNode(name: string, labels?: { [key: string]: string }): Promise<TestNode>;
}

let shared: Promise<World> | undefined;
/** Of every proxy of the lane. */
const proxyLogs = new Set<string>();

// Of the whole lane: whatever its agents asked for, a rule of the proxy was for it.
after("no request of an agent was refused by its proxy", () => {
  const refused = [...proxyLogs].flatMap((file) => linesOf(file, "a request was not passed on"));
  if (refused.length > 0) throw new Error(`refused by a proxy:\n${refused.join("\n")}`);
});

function linesOf(file: string, text: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.includes(text));
}

/** The lane's world, started for whoever asks first. */
export async function testWorld(context: Mocha.Context): Promise<World> {
  prepare(context);
  shared ??= startCluster().then(startWorld);
  return shared;
}

/** Nodes, agents and a controller on a cluster. */
export async function startWorld(cluster: TestCluster): Promise<World> {
  await bundles();
  const logs = join(cluster.directory, "logs");
  mkdirSync(logs, { recursive: true });
  const { controlPlane, admin } = cluster;
  const { server } = controlPlane;
  const startIt = async (name = "controller-0", flags: readonly string[] = []) => {
    const identity = await controllerIdentity(controlPlane, {}, join(cluster.directory, name));
    return startController(name, { server, identity, logFile: join(logs, `${name}.log`), env: process.env, flags });
  };
  const addNode = async (name: string, labels: { [key: string]: string } = {}): Promise<TestNode> => {
    const node = await createNodeObject(admin, name, labels);
    const host = await startPretendHost(name);
    const identity = await agentIdentity(controlPlane, node, join(cluster.directory, "agents", name));
    const logFile = join(logs, `${name}.log`);
    const access = { server, identity, logFile: join(logs, `${name}-api-proxy.log`), env: process.env };
    const startProxy = () => startApiProxy(name, access);
    const proxy = startProxy();
    proxyLogs.add(access.logFile);
    const run = (flags: readonly string[] = []) =>
      startAgent(host, { server: proxy.apiServer, identity, logFile, env: process.env, flags });
    const mountsAt = async (path: string) =>
      (await host.mounts()).filter((line) => line.split(" ")[4] === path).reverse();
    return { ...node, host, proxy, startProxy, agent: run(), startAgent: run, mountsAt };
  };
  const objects = observe(cluster.people);
  const world: World = {
    cluster,
    nodes: [await addNode("node-1"), await addNode("node-2"), await addNode("node-3")],
    controller: await startIt(),
    startController: startIt,
    objects,
    addNode,
    async apply(name, spec) {
      const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec };
      const answer = ["-o", "jsonpath={.metadata.generation} {.metadata.deletionTimestamp}"];
      const applied = await cluster.kubectl.run(["apply", "--server-side", "-f", "-", ...answer], JSON.stringify(set));
      const [generation, deletedAt] = applied.split(" ");
      // The API server takes a new spec for it still, and it may be gone before the watch is looked at.
      if (deletedAt) throw new Error(`${name} is being deleted since ${deletedAt}`);
      await objects.until(`${name} as it was applied`, 60_000, () => {
        return (objects.sets.get(name)?.metadata.generation ?? 0) >= Number(generation);
      });
    },
    async remove(...names) {
      await cluster.kubectl.run(["delete", "nodevolumesets", "--wait=false", "--ignore-not-found", ...names]);
      await objects.until(`${names.join(", ")} to be gone`, 60_000, () =>
        names.every((name) => !objects.sets.has(name)),
      );
    },
  };
  objects.describe = () => [controllerTail(world), ...world.nodes.map((n) => agentTail(n))].join("\n");
  return world;
}

function controllerTail(world: World): string {
  return ["controller:", ...tailOf(world.controller.logFile, 5)].join("\n  ");
}

function agentTail(node: TestNode): string {
  return [`agent of ${node.name}:`, ...tailOf(node.agent.logFile, 5)].join("\n  ");
}

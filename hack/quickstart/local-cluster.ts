import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createApiClient } from "../lib/api-client.ts";
import { buildBundles } from "../lib/bundle.ts";
import { platformAdmin, writeKubeconfig } from "../lib/control-plane/credentials.ts";
import { agentIdentity, controllerIdentity } from "../lib/control-plane/identities.ts";
import { installProject } from "../lib/control-plane/install.ts";
import { type ControlPlane, startControlPlane } from "../lib/control-plane/start.ts";
import { createKubectl } from "../lib/kubectl.ts";
import { type PretendHost, startPretendHost } from "../lib/pretend-node/node.ts";
import { createNodeObject, type NodeRef } from "../lib/pretend-node/object.ts";
import { startAgent, startController } from "../lib/roles.ts";
import { root } from "../lib/root.ts";
import type { ToolPaths } from "../lib/tools/locate.ts";
import { type Demo, failingFolder } from "./demo.ts";
import { type KeptProcess, keepProcess } from "./kept-process.ts";
import { rightsOfPeople } from "./people.ts";
import type { Screen } from "./screen.ts";

export interface LocalOptions {
  readonly tools: ToolPaths;
  /** On tmpfs: holds everything, secrets too. */
  readonly directory: string;
  readonly nodes: number;
  /** Folder with what is applied, from the root of the repository. */
  readonly sampleFolder: string;
  /** Further flags of the agents. */
  readonly agentFlags?: readonly string[];
  readonly screen: Screen;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/** What drivers and what belongs to them are started beside. */
export interface LocalCluster extends Demo {
  readonly plane: ControlPlane;
  readonly nodes: readonly LocalNode[];
  readonly logs: string;
}

interface LocalNode extends NodeRef {
  readonly host: PretendHost;
  readonly agent: KeptProcess;
}

/** The kubeconfig of people, beneath the directory. */
export const peopleKubeconfig = "kubeconfig";

/** A control plane of our own with the project installed, one controller, and an agent on each pretended node. */
export async function startLocalCluster(options: LocalOptions): Promise<LocalCluster> {
  const { tools, directory, screen, signal } = options;
  screen.step("starting etcd and kube-apiserver, with verified TLS and random credentials");
  const plane = await startControlPlane({ tools, directory: join(directory, "control-plane"), signal });
  screen.step("installing CRDs, RBAC and admission policies; each role gets a bound token of its own");
  const people = await install(plane, directory);
  const logs = join(directory, "logs");
  mkdirSync(logs, { recursive: true });
  screen.step("bundling controller and agent");
  await buildBundles();
  screen.step("starting the controller, and an agent on each node in a mount namespace of its own");
  const ofController = {
    server: plane.server,
    identity: await controllerIdentity(plane, {}, join(directory, "controller")),
    logFile: join(logs, "controller.log"),
    env: options.env,
  };
  const controller = keepProcess(() => startController("nodevolume-controller-0", ofController));
  const nodes = await startNodes(plane, options, logs);
  const processes = [plane.etcd, plane.apiServer(), controller, ...nodes.map((node) => node.agent)];
  screen.note(processes.map(({ name, pid }) => `${name} ${pid}`).join(", "));
  const hosts = nodes.map((node) => node.host);
  return {
    ...people,
    plane,
    nodes,
    logs,
    hosts,
    agents: nodes.map((node) => node.agent),
    processes,
    sample: await people.kubectl.run(["kustomize", join(root, options.sampleFolder)]),
    failing: await people.kubectl.run(["kustomize", join(root, failingFolder)]),
    async remove() {
      for (const { agent } of nodes) await agent.stop();
      await controller.stop();
      for (const host of hosts) await host.stop();
      people.client.close();
      await plane.stop();
    },
  };
}

async function install(plane: ControlPlane, directory: string) {
  const { server, ca, credentials, admin } = plane;
  const adminKubeconfig = join(directory, "control-plane/admin.kubeconfig");
  writeKubeconfig(adminKubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
  const kubectl = createKubectl(plane.kubectl, adminKubeconfig);
  await installProject({ kubectl, admin, server, ca });
  await kubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(rightsOfPeople));
  const path = join(directory, peopleKubeconfig);
  writeKubeconfig(path, { server, ca, user: platformAdmin, token: credentials.peopleToken });
  return {
    kubectl: createKubectl(plane.kubectl, path),
    client: createApiClient({ server, ca, token: credentials.peopleToken }),
  };
}

async function startNodes(plane: ControlPlane, options: LocalOptions, logs: string) {
  const nodes: LocalNode[] = [];
  for (let number = 1; number <= options.nodes; number += 1) {
    const node = await createNodeObject(plane.admin, `node-${number}`);
    const host = await startPretendHost(node.name);
    const ofAgent = {
      server: plane.server,
      identity: await agentIdentity(plane, node, join(options.directory, "agents", node.name)),
      logFile: join(logs, `agent-${node.name}.log`),
      env: options.env,
      ...(options.agentFlags && { flags: options.agentFlags }),
    };
    const agent = keepProcess(() => startAgent(host, ofAgent));
    nodes.push({ ...node, host, agent });
  }
  return nodes;
}

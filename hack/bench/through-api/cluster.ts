// A real API server and etcd on the disk, one pretended node with the production agent, and a client that writes
// intents as the controller would.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, createApiClient } from "../../lib/api-client.ts";
import { buildBundles } from "../../lib/bundle.ts";
import { writeKubeconfig } from "../../lib/control-plane/credentials.ts";
import { agentIdentity, requestToken } from "../../lib/control-plane/identities.ts";
import { installProject } from "../../lib/control-plane/install.ts";
import { type ControlPlane, startControlPlane } from "../../lib/control-plane/start.ts";
import { createKubectl } from "../../lib/kubectl.ts";
import { layout, type PretendHost, startPretendHost } from "../../lib/pretend-node/node.ts";
import { createNodeObject, type NodeRef } from "../../lib/pretend-node/object.ts";
import type { RunningProcess } from "../../lib/process.ts";
import { startAgent } from "../../lib/roles.ts";
import { locateTools } from "../../lib/tools/locate.ts";

export interface BenchCluster {
  readonly plane: ControlPlane;
  readonly node: NodeRef;
  readonly host: PretendHost;
  agent(): RunningProcess;
  /** Kills the agent, as when its container ends, and starts another on the same node. */
  restartAgent(): Promise<void>;
  /** With the controller's own token: what it may do, and no more. */
  readonly controller: ApiClient;
  /** On the disk: everything's files and logs. */
  readonly directory: string;
  stop(): Promise<void>;
}

/**
 * Starts everything. RBAC and admission policies are on, the agent's token is bound to its Node, the journal is on the
 * disk, and etcd waits for the disk.
 * @param directory on the disk
 */
export async function startBenchCluster(directory: string, report: (line: string) => void): Promise<BenchCluster> {
  const tools = await locateTools({ env: process.env, report });
  const plane = await startControlPlane({ tools, directory: join(directory, "control-plane"), measured: true });
  const { admin, server, ca, credentials } = plane;
  const kubeconfig = join(directory, "control-plane/admin.kubeconfig");
  writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
  await installProject({ kubectl: createKubectl(plane.kubectl, kubeconfig), admin, server, ca });
  await buildBundles();
  const node = await createNodeObject(admin, "bench");
  const host = await startPretendHost("bench");
  await keepStateOnDisk(host, join(directory, "state"));
  const identity = await agentIdentity(plane, node, join(directory, "agent"));
  const start = () => startAgent(host, { server, identity, logFile: join(directory, "agent.log"), env: process.env });
  let agent = start();
  const token = await requestToken(admin, "nodevolume-controller");
  const controller = createApiClient({ server, ca, token });
  return {
    plane,
    node,
    host,
    agent: () => agent,
    async restartAgent() {
      agent.kill("SIGKILL");
      await agent.ended;
      agent = start();
    },
    controller,
    directory,
    async stop() {
      await agent.stop();
      controller.close();
      await host.stop();
      await plane.stop();
    },
  };
}

/** The pretended node has it on a tmpfs, where fdatasync costs nothing. */
async function keepStateOnDisk(host: PretendHost, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await host.run("mount", "--bind", directory, layout.stateDir);
}

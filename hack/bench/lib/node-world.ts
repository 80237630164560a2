// A real node with the host-path driver, external-attacher and -provisioner, our controller and our agent; etcd and
// journal on the disk.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiClient } from "../../lib/api-client.ts";
import { buildBundles } from "../../lib/bundle.ts";
import { writeKubeconfig } from "../../lib/control-plane/credentials.ts";
import { agentIdentity, controllerIdentity } from "../../lib/control-plane/identities.ts";
import { installProject } from "../../lib/control-plane/install.ts";
import { startControlPlane } from "../../lib/control-plane/start.ts";
import { apply } from "../../lib/csi/accounts.ts";
import { hostPath, startDriver } from "../../lib/csi/driver.ts";
import { agentFlags } from "../../lib/csi/paths.ts";
import { startSidecar } from "../../lib/csi/sidecars.ts";
import { createKubectl } from "../../lib/kubectl.ts";
import { type KubeletNode, nodeUsers, startKubeletNode } from "../../lib/kubelet-node/start.ts";
import { layout } from "../../lib/pretend-node/node.ts";
import { startAgent, startController } from "../../lib/roles.ts";
import { root } from "../../lib/root.ts";
import { locateNodeTools, locateTool, locateTools } from "../../lib/tools/locate.ts";
import { until } from "../../lib/until.ts";
import { driverName, makeStorageClass, namespace } from "../attach-latency/storage.ts";

export interface World {
  readonly admin: ApiClient;
  readonly node: KubeletNode;
  /** Of the host-path driver, as this process names it. */
  readonly socket: string;
}

/**
 * Starts everything; it ends with the sandbox, but for cgroups: node.stop(). RBAC and admission policies are on, nobody
 * works with another's token.
 * @param directory on the disk
 */
export async function startWorld(directory: string, report: (line: string) => void): Promise<World> {
  const env = process.env;
  const options = { env, report };
  const tools = await locateTools(options);
  const nodeTools = await locateNodeTools(options);
  if ("missing" in nodeTools) throw new Error(nodeTools.missing);
  const logs = join(directory, "logs");
  mkdirSync(logs, { recursive: true });
  const planeDirectory = join(directory, "control-plane");
  const plane = await startControlPlane({ tools, directory: planeDirectory, measured: true, users: nodeUsers });
  const { admin, server, ca, credentials } = plane;
  const kubeconfig = join(planeDirectory, "admin.kubeconfig");
  writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
  const kubectl = createKubectl(plane.kubectl, kubeconfig);
  await installProject({ kubectl, admin, server, ca });
  await kubectl.run(["apply", "--server-side", "-f", join(root, "config/agent/csi-driver.yaml")]);
  await apply(admin, "/apis/storage.k8s.io/v1/csidrivers", {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: driverName },
    spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: "File" },
  });
  await makeStorageClass(admin);
  await buildBundles();

  const controllerManager = await locateTool("kube-controller-manager", options);
  const node = await startKubeletNode({ plane, tools: nodeTools, controllerManager, directory, logs, env });
  const state = join(directory, "state");
  mkdirSync(state, { mode: 0o700 });
  await node.host.run("mount", "--bind", state, layout.stateDir);
  // Not on the disk: the driver binds directories, and of a disk that the node itself has mounted the agent does not
  // see that nobody has it any more. Nothing is written to these volumes.
  const volumes = mkdtempSync(join(tmpdir(), "volumes-"));
  const program = await locateTool("hostpathplugin", options);
  const driver = await startDriver(node.host, hostPath(node.name, program, volumes), { logs, env });
  await driver.register();
  for (const sidecar of ["csi-attacher", "csi-provisioner"] as const) {
    const program = await locateTool(sidecar, options);
    await startSidecar(sidecar, { plane, directory, logs, program, address: driver.outside });
  }
  const agent = { server, identity: await agentIdentity(plane, node, join(directory, "agent")), env };
  startAgent(node.host, { ...agent, logFile: join(logs, "agent.log"), flags: agentFlags });
  const identity = await controllerIdentity(plane, {}, join(directory, "controller"));
  startController("controller-0", { server, identity, logFile: join(logs, "controller.log"), env });
  await until("the ServiceAccount of pods", 60_000, async () => {
    const account = await admin.call("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`);
    return account.status === 200;
  });
  return { admin, node, socket: driver.outside };
}

// Our side: a control plane with etcd on the disk, a pretended node with the host-path driver and the agent, the controller,
// the external-attacher and -provisioner, and kube-controller-manager, which binds claims.
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
import { startControllerManager } from "../../lib/csi/controller-manager.ts";
import { hostPath, startDriver } from "../../lib/csi/driver.ts";
import { FakeKubelet } from "../../lib/csi/fake-kubelet.ts";
import { agentFlags } from "../../lib/csi/paths.ts";
import { startSidecar } from "../../lib/csi/sidecars.ts";
import { createKubectl } from "../../lib/kubectl.ts";
import { layout, startPretendHost } from "../../lib/pretend-node/node.ts";
import { createNodeObject } from "../../lib/pretend-node/object.ts";
import { startAgent, startController } from "../../lib/roles.ts";
import { locateTool, locateTools } from "../../lib/tools/locate.ts";
import { driverName, makeStorageClass, namespace } from "./storage.ts";

export interface World {
  readonly admin: ApiClient;
  /** Of the driver, as this process names it. */
  readonly socket: string;
}

export const nodeName = "bench";

/**
 * Starts everything; it ends with the sandbox. RBAC and admission policies are on, nobody works with another's token.
 * @param directory on the disk
 */
export async function startWorld(directory: string, report: (line: string) => void): Promise<World> {
  const env = process.env;
  const tools = await locateTools({ env, report });
  const logs = join(directory, "logs");
  mkdirSync(logs, { recursive: true });
  const planeDirectory = join(directory, "control-plane");
  const plane = await startControlPlane({ tools, directory: planeDirectory, measured: true });
  const { admin, server, ca, credentials } = plane;
  const kubeconfig = join(planeDirectory, "admin.kubeconfig");
  writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
  await installProject({ kubectl: createKubectl(plane.kubectl, kubeconfig), admin, server, ca });
  await makeObjects(admin);
  await buildBundles();

  const node = await createNodeObject(admin, nodeName);
  const host = await startPretendHost(nodeName);
  const state = join(directory, "state");
  mkdirSync(state, { mode: 0o700 });
  // The pretended node has it on a tmpfs, where fdatasync costs nothing.
  await host.run("mount", "--bind", state, layout.stateDir);
  // Not on the disk: the driver binds directories, and of a disk that the node itself has mounted the agent does not see that
  // nobody has it any more. Nothing is written to these volumes.
  const volumes = mkdtempSync(join(tmpdir(), "volumes-"));
  const program = await locateTool("hostpathplugin", { env, report });
  const driver = await startDriver(host, hostPath(nodeName, program, volumes), { logs, env });
  await new FakeKubelet(admin, node).registered(driver.name, driver.outside);
  await driver.register();

  const place = { plane, directory, logs };
  for (const sidecar of ["csi-attacher", "csi-provisioner"] as const) {
    const program = await locateTool(sidecar, { env, report });
    await startSidecar(sidecar, { ...place, program, address: driver.outside });
  }
  const manager = await locateTool("kube-controller-manager", { env, report });
  await startControllerManager({ ...place, program: manager });
  const agent = { server, identity: await agentIdentity(plane, node, join(directory, "agent")), env };
  startAgent(host, { ...agent, logFile: join(logs, "agent.log"), flags: agentFlags });
  const identity = await controllerIdentity(plane, {}, join(directory, "controller"));
  startController("controller-0", { server, identity, logFile: join(logs, "controller.log"), env });
  return { admin, socket: driver.outside };
}

async function makeObjects(admin: ApiClient): Promise<void> {
  await apply(admin, "/apis/storage.k8s.io/v1/csidrivers", {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: driverName },
    spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: "File" },
  });
  await makeStorageClass(admin);
  // Without it a namespace takes no pod, not even on trial, as the controller does; what makes it elsewhere does not run here.
  const metadata = { name: "default", namespace };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await apply(admin, accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
}

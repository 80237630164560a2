// A real node: kubelet, containerd and runc, with kube-scheduler and kube-controller-manager beside the control plane.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeKubeconfig } from "../control-plane/credentials.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { startControllerManager } from "../csi/controller-manager.ts";
import { type OwnNamespace, type PretendHost, startPretendHost } from "../pretend-node/node.ts";
import { type RunningProcess, startProcess } from "../process.ts";
import { root } from "../root.ts";
import { newRunId, runVariable } from "../sandbox/outside.ts";
import type { NodeToolPaths } from "../tools/locate.ts";
import { cgroupOf, makeCgroup, removeCgroup } from "./cgroups.ts";
import { startContainerd } from "./containerd.ts";
import { coverKernelSettings } from "./kernel-settings.ts";
import { kubeletNode, kubeletUser, secondNode, startKubelet, untilReady } from "./kubelet.ts";
import { startRelay } from "./relay.ts";

const schedulerUser = { name: "system:kube-scheduler" } as const;

/** Whom the control plane of a real node has to know: ControlPlaneOptions.users. */
export const nodeUsers = [kubeletUser(kubeletNode), kubeletUser(secondNode), schedulerUser] as const;

/** What kubelet and scheduler need of it, beside its volume controllers. */
const controllers = ["node-lifecycle-controller", "serviceaccount-controller", "pod-garbage-collector-controller"];

export interface NodeOptions {
  /** With nodeUsers. */
  readonly plane: ControlPlane;
  readonly tools: NodeToolPaths;
  readonly directory: string;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
  /** kubelet's root directory; layout.kubeletDir if not set. */
  readonly kubeletDir?: string;
  /** Namespaces of the node's own. With "net" it reaches the API server through a relay. */
  readonly own?: readonly OwnNamespace[];
}

export interface KubeletNodeOptions extends NodeOptions {
  readonly controllerManager: string;
  /** Further controllers of kube-controller-manager. */
  readonly controllers?: readonly string[];
}

/** A machine with kubelet and containerd. */
export interface MachineWithKubelet {
  readonly name: string;
  readonly uid: string;
  readonly host: PretendHost;
  kubelet(): RunningProcess;
  /** Kills kubelet, as a crash would, and starts it again; its pods go on meanwhile. */
  restartKubelet(): Promise<void>;
  /** Gives the node's container runtime an image, from an archive. */
  importImage(archive: string): Promise<void>;
  stop(): Promise<void>;
}

/** The first, with what a cluster has beside its nodes. */
export interface KubeletNode extends MachineWithKubelet {
  readonly controllerManager: RunningProcess;
  readonly scheduler: RunningProcess;
}

/** What has been started, in order: `stop` ends it, the last first. */
function startedParts() {
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  return { ends, stop };
}

/** Starts everything and waits until the node is Ready. Only makes sense in a sandbox. */
export async function startKubeletNode(options: KubeletNodeOptions): Promise<KubeletNode> {
  const { plane, directory, logs } = options;
  const { ends, stop } = startedParts();
  try {
    const all = [...controllers, ...(options.controllers ?? [])];
    const manager = { plane, program: options.controllerManager, directory, logs, controllers: all };
    const controllerManager = await startControllerManager(manager);
    ends.push(() => controllerManager.stop());
    const scheduler = startScheduler(options);
    ends.push(() => scheduler.stop());
    const node = await startMachine(options, kubeletNode);
    ends.push(() => node.stop());
    return { ...node, controllerManager, scheduler, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a second node of the same cluster, which has a network of its own, and waits until it is Ready. */
export async function startSecondNode(options: NodeOptions): Promise<MachineWithKubelet> {
  return await startMachine({ ...options, own: ["pid", "net"] }, secondNode);
}

async function startMachine(options: NodeOptions, name: string): Promise<MachineWithKubelet> {
  const { plane, tools, directory, logs, env, own = [] } = options;
  const { ends, stop } = startedParts();
  try {
    const ofRun = cgroupOf(env[runVariable] ?? newRunId());
    const cgroup = name === kubeletNode ? ofRun : join(ofRun, name);
    makeCgroup(cgroup);
    ends.push(() => removeCgroup(cgroup));
    const host = await startPretendHost(name, own);
    ends.push(() => host.stop());
    if (own.includes("net")) {
      const relay = await startRelay({ host, server: plane.server, directory, logs });
      ends.push(() => relay.stop());
    }
    // Where either of them has paths that no flag changes.
    await host.run(process.execPath, join(root, "hack/lib/sandbox/cover-main.ts"), "/run", "/var/lib", "/var/log");
    await coverKernelSettings(host, join(directory, "kernel-settings"));
    const place = (folderName: string) => {
      const folder = join(directory, folderName);
      mkdirSync(folder, { recursive: true });
      return folder;
    };
    const containerd = await startContainerd({ host, tools, directory: place("containerd"), logs, env });
    ends.push(() => containerd.stop());
    const { socket } = containerd;
    const { kubeletDir } = options;
    const kubeletOptions = { program: tools.kubelet, directory: place("kubelet"), kubeletDir };
    const start = () => startKubelet({ plane, host, ...kubeletOptions, logs, env, socket, cgroup });
    let kubelet = start();
    ends.push(() => kubelet.stop());
    const uid = await untilReady(plane, name, () => kubelet);
    return {
      name,
      uid,
      host,
      kubelet: () => kubelet,
      async restartKubelet() {
        kubelet.kill("SIGKILL");
        await kubelet.ended;
        kubelet = start();
      },
      importImage: (archive) => containerd.importImage(archive),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startScheduler({ plane, tools, directory, logs, env }: KubeletNodeOptions): RunningProcess {
  const kubeconfig = join(directory, "scheduler.kubeconfig");
  const { name } = schedulerUser;
  const token = plane.credentials.tokens.get(name);
  if (token === undefined) throw new Error(`the control plane has no user ${name}`);
  writeKubeconfig(kubeconfig, { server: plane.server, ca: plane.ca, user: name, token });
  return startProcess({
    name: "kube-scheduler",
    command: tools["kube-scheduler"],
    args: [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0", "--v=2"],
    logFile: join(logs, "kube-scheduler.log"),
    env: { PATH: env["PATH"] },
  });
}

// A real node: kubelet, containerd and runc, with kube-scheduler and kube-controller-manager beside the control plane.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeKubeconfig } from "../control-plane/credentials.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { startControllerManager } from "../csi/controller-manager.ts";
import { type PretendHost, startPretendHost } from "../pretend-node/node.ts";
import { type RunningProcess, startProcess } from "../process.ts";
import { root } from "../root.ts";
import { newRunId, runVariable } from "../sandbox/outside.ts";
import type { NodeToolPaths } from "../tools/locate.ts";
import { cgroupOf, makeCgroup, removeCgroup } from "./cgroups.ts";
import { startContainerd } from "./containerd.ts";
import { coverKernelSettings } from "./kernel-settings.ts";
import { kubeletNode, kubeletUser, startKubelet, untilReady } from "./kubelet.ts";

const schedulerUser = { name: "system:kube-scheduler" } as const;

/** Whom the control plane of a real node has to know: ControlPlaneOptions.users. */
export const nodeUsers = [kubeletUser, schedulerUser] as const;

/** What kubelet and scheduler need of it, beside its volume controllers. */
const controllers = ["node-lifecycle-controller", "serviceaccount-controller", "pod-garbage-collector-controller"];

export interface KubeletNodeOptions {
  /** With nodeUsers. */
  readonly plane: ControlPlane;
  readonly tools: NodeToolPaths;
  readonly controllerManager: string;
  readonly directory: string;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
  /** Further controllers of kube-controller-manager. */
  readonly controllers?: readonly string[];
  /** kubelet's root directory; layout.kubeletDir if not set. */
  readonly kubeletDir?: string;
}

export interface KubeletNode {
  readonly name: string;
  readonly uid: string;
  readonly host: PretendHost;
  kubelet(): RunningProcess;
  /** Kills kubelet, as a crash would, and starts it again; its pods go on meanwhile. */
  restartKubelet(): Promise<void>;
  /** Gives the node's container runtime an image, from an archive. */
  importImage(archive: string): Promise<void>;
  readonly controllerManager: RunningProcess;
  readonly scheduler: RunningProcess;
  stop(): Promise<void>;
}

/** Starts everything and waits until the node is Ready. Only makes sense in a sandbox. */
export async function startKubeletNode(options: KubeletNodeOptions): Promise<KubeletNode> {
  const { plane, tools, directory, logs, env } = options;
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const all = [...controllers, ...(options.controllers ?? [])];
    const manager = { plane, program: options.controllerManager, directory, logs, controllers: all };
    const controllerManager = await startControllerManager(manager);
    ends.push(() => controllerManager.stop());
    const scheduler = startScheduler(options);
    ends.push(() => scheduler.stop());

    const cgroup = cgroupOf(env[runVariable] ?? newRunId());
    makeCgroup(cgroup);
    ends.push(() => removeCgroup(cgroup));
    const host = await startPretendHost(kubeletNode);
    ends.push(() => host.stop());
    // Where either of them has paths that no flag changes.
    await host.run(process.execPath, join(root, "hack/lib/sandbox/cover-main.ts"), "/run", "/var/lib", "/var/log");
    await coverKernelSettings(host, join(directory, "kernel-settings"));
    const place = (name: string) => {
      const folder = join(directory, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    };
    const containerd = await startContainerd({ host, tools, directory: place("containerd"), logs, env });
    ends.push(() => containerd.stop());
    const { socket } = containerd;
    const { kubeletDir } = options;
    const own = { program: tools.kubelet, directory: place("kubelet"), kubeletDir };
    const start = () => startKubelet({ plane, host, ...own, logs, env, socket, cgroup });
    let kubelet = start();
    ends.push(() => kubelet.stop());
    const uid = await untilReady(plane, () => kubelet);
    return {
      name: kubeletNode,
      uid,
      host,
      kubelet: () => kubelet,
      async restartKubelet() {
        kubelet.kill("SIGKILL");
        await kubelet.ended;
        kubelet = start();
      },
      importImage: (archive) => containerd.importImage(archive),
      controllerManager,
      scheduler,
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

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeKubeconfig } from "../control-plane/credentials.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { layout, type PretendHost } from "../pretend-node/node.ts";
import { type RunningProcess, StepError } from "../process.ts";
import { until } from "../until.ts";

/**
 * Name of the node. A kubelet takes its address from a name that is one, and this is the one address that is there
 * everywhere.
 */
export const kubeletNode = "127.0.0.1";
/** Of a second one. It has a network of its own, and this is another address of its loopback interface. */
export const secondNode = "127.0.0.2";

/** Who the kubelet of a node is, for the control plane's file of tokens. */
export function kubeletUser(node: string): { readonly name: string; readonly groups: readonly string[] } {
  return { name: `system:node:${node}`, groups: ["system:nodes"] };
}

export interface KubeletOptions {
  readonly plane: ControlPlane;
  readonly host: PretendHost;
  readonly program: string;
  readonly directory: string;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
  /** Of the container runtime. */
  readonly socket: string;
  /** As kubelet names it. */
  readonly cgroup: string;
  /** Its root directory; layout.kubeletDir if not set. */
  readonly kubeletDir?: string | undefined;
}

/** Starts a kubelet as itself: by its token it is authorized as a node and no more. */
export function startKubelet(options: KubeletOptions): RunningProcess {
  const { plane, host, program, directory, logs, env, kubeletDir = layout.kubeletDir } = options;
  mkdirSync(join(directory, "pod-logs"), { recursive: true });
  const kubeconfig = join(directory, "kubeconfig");
  const { name } = kubeletUser(host.name);
  const token = plane.credentials.tokens.get(name);
  if (token === undefined) throw new Error(`the control plane has no user ${name}`);
  writeKubeconfig(kubeconfig, { server: plane.server, ca: plane.ca, user: name, token });
  const config = join(directory, "kubelet.json");
  writeFileSync(config, JSON.stringify(configOf(options), undefined, 2));
  // No name server is asked: nothing here has a name.
  writeFileSync(join(directory, "resolv.conf"), "nameserver 127.0.0.1\n");
  const flags = [`--config=${config}`, `--kubeconfig=${kubeconfig}`, `--root-dir=${kubeletDir}`];
  const node = [`--cert-dir=${join(directory, "certificates")}`, `--hostname-override=${host.name}`];
  return host.startOn("kubelet", [program, ...flags, ...node, "--v=2"], join(logs, "kubelet.log"), env);
}

/** Where its intervals are concerned it is a kubelet as everybody has it. */
function configOf({ directory, socket, cgroup }: KubeletOptions): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    // Nobody talks to it, and nothing listens.
    enableServer: false,
    healthzPort: 0,
    readOnlyPort: 0,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroup,
    enforceNodeAllocatable: ["none"],
    failCgroupV1: false,
    failSwapOn: false,
    // What it would set of the machine itself.
    makeIPTablesUtilChains: false,
    oomScoreAdj: 0,
    maxOpenFiles: 20_000,
    // Nothing is to be evicted, or collected, because the machine is full of other things.
    evictionHard: { "memory.available": "1Mi", "nodefs.available": "1Mi", "imagefs.available": "1Mi" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    resolvConf: join(directory, "resolv.conf"),
    podLogsDir: join(directory, "pod-logs"),
    featureGates: { KubeletInUserNamespace: true },
  };
}

/** Milliseconds until its node is Ready; some seconds are usual. */
const patience = 90_000;

/** Waits until a kubelet's node is Ready, and pods are sent to it. @returns its uid */
export async function untilReady(plane: ControlPlane, node: string, kubelet: () => RunningProcess): Promise<string> {
  let uid = "";
  await until(`the node ${node} to be Ready`, patience, async () => {
    const ending = kubelet().ending();
    if (ending !== undefined)
      throw new StepError(`kubelet ${ending}`, { logFile: kubelet().logFile, remedy: "its log says why" });
    const { status, body } = await plane.admin.call("GET", `/api/v1/nodes/${node}`);
    if (status !== 200) return false;
    const { metadata, spec, status: now } = body as unknown as NodeObject;
    uid = metadata.uid;
    const ready = now.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true;
    return ready && (spec.taints ?? []).length === 0;
  });
  return uid;
}

interface NodeObject {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly taints?: readonly object[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

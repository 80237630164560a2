// kwok for Nodes and Pods: it says what a kubelet would.
import { join } from "node:path";
import { accountWith, type Plane } from "../../../lib/csi/accounts.ts";
import { type RunningProcess, startProcess } from "../../../lib/process.ts";

const rights = [
  { apiGroups: [""], resources: ["nodes", "pods"], verbs: ["get", "list", "watch", "update", "patch", "delete"] },
  { apiGroups: [""], resources: ["nodes/status", "pods/status"], verbs: ["update", "patch"] },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "update", "patch"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
];

export interface KwokOptions {
  readonly plane: Plane;
  /** For its kubeconfig and log. */
  readonly directory: string;
  /** How long the Leases of Nodes last, which it renews four times as often. */
  readonly leaseSeconds: number;
}

export async function startKwok(
  kwok: string,
  { plane, directory, leaseSeconds }: KwokOptions,
): Promise<RunningProcess> {
  const kubeconfig = await accountWith(plane, { namespace: "kwok", name: "kwok" }, rights, directory);
  return startProcess({
    name: "kwok",
    command: kwok,
    args: [
      ...["--kubeconfig", kubeconfig, "--config", join(import.meta.dirname, "../kwok-stages.yaml")],
      ...["--manage-all-nodes=true", `--node-lease-duration-seconds=${leaseSeconds}`],
      ...["--cidr=10.128.0.0/9", "--node-ip=10.0.0.1", "--server-address="],
    ],
    cwd: directory,
    env: { ...process.env, KWOK_WORKDIR: directory },
    logFile: join(directory, "kwok.log"),
  });
}

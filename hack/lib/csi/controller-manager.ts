import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningProcess, startProcess } from "../process.ts";
import { accountWith, type Plane } from "./accounts.ts";

/** Its parts that have to do with volumes; the others would only take time here. */
const volumeControllers = [
  "persistentvolume-attach-detach-controller",
  "persistentvolume-binder-controller",
  "persistentvolumeclaim-protection-controller",
  "persistentvolume-protection-controller",
];

export interface ControllerManagerOptions {
  readonly plane: Plane;
  readonly program: string;
  readonly directory: string;
  readonly logs: string;
  /** Further controllers. */
  readonly controllers?: readonly string[];
}

/** kube-controller-manager with its volume controllers, each with an account of its own. */
export async function startControllerManager(options: ControllerManagerOptions): Promise<RunningProcess> {
  const { plane, program, directory, logs, controllers = [] } = options;
  const account = { namespace: "kube-system", name: "kube-controller-manager" };
  const kubeconfig = await accountWith(plane, account, { clusterRole: "system:kube-controller-manager" }, directory);
  const authority = join(directory, "root-ca.crt");
  writeFileSync(authority, plane.ca);
  return startProcess({
    name: "kube-controller-manager",
    command: program,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${[...volumeControllers, ...controllers].join(",")}`,
      `--root-ca-file=${authority}`, // what pods know the API server by
      "--use-service-account-credentials=true",
      "--leader-elect=false",
      "--secure-port=0",
      // Else a claim waits 15 s for a look at it that an event should have caused.
      "--pvclaimbinder-sync-period=2s",
      "--kube-api-qps=200",
      "--kube-api-burst=400",
      "--v=3",
    ],
    logFile: join(logs, "kube-controller-manager.log"),
    env: { PATH: process.env["PATH"] },
  });
}

import { join } from "node:path";
import { type RunningProcess, startProcess } from "../process.ts";
import { accountWith, type Plane } from "./accounts.ts";
import { keptRunning } from "./kept-running.ts";
import { rightsOf, type Sidecar } from "./rights.ts";

export interface SidecarOptions {
  readonly plane: Plane;
  readonly program: string;
  /** Socket of the driver whose controller service it calls. */
  readonly address: string;
  readonly directory: string;
  readonly logs: string;
}

/** Namespace of the programs beside drivers. */
const namespace = "csi-drivers";

/** Retries of all soon: tests order failures. */
const flags: { readonly [sidecar in Sidecar]: readonly string[] } = {
  "csi-provisioner": ["--feature-gates=Topology=false", "--retry-interval-start=200ms", "--retry-interval-max=2s"],
  "csi-attacher": ["--retry-interval-start=200ms", "--retry-interval-max=2s"],
  "csi-resizer": ["--retry-interval-start=200ms", "--retry-interval-max=2s", "--handle-volume-inuse-error=false"],
};

/**
 * Starts external-provisioner, -attacher or -resizer, with an account and rights of its own; again whenever it ends.
 */
export async function startSidecar(sidecar: Sidecar, options: SidecarOptions): Promise<RunningProcess> {
  const { plane, program, address, directory, logs } = options;
  const kubeconfig = await accountWith(plane, { namespace, name: sidecar }, rightsOf[sidecar], directory);
  const common = [
    `--kubeconfig=${kubeconfig}`,
    `--csi-address=${address}`,
    "--kube-api-qps=200",
    "--kube-api-burst=400",
  ];
  return keptRunning(() =>
    startProcess({
      name: sidecar,
      command: program,
      args: [...common, ...flags[sidecar], "--v=4"],
      logFile: join(logs, `${sidecar}.log`),
      env: { PATH: process.env["PATH"] },
    }),
  );
}

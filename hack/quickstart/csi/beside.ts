// What a cluster with a CSI driver has beside what is ours: the driver on each node, its sidecars,
// kube-controller-manager.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { apply, type Plane } from "../../lib/csi/accounts.ts";
import { startControllerManager } from "../../lib/csi/controller-manager.ts";
import { loopXfs, type RunningDriver, startDriver } from "../../lib/csi/driver.ts";
import { FakeKubelet } from "../../lib/csi/fake-kubelet.ts";
import { sidecars } from "../../lib/csi/rights.ts";
import { startSidecar } from "../../lib/csi/sidecars.ts";
import { type CSIStorage, csiStorage } from "../../lib/csi/storage.ts";
import type { RunningProcess } from "../../lib/process.ts";
import { runVariable } from "../../lib/sandbox/outside.ts";
import type { Xfsprogs } from "../../lib/tools/xfsprogs.ts";
import type { LocalCluster } from "../local-cluster.ts";
import type { CSIQuickstartTools } from "./tools.ts";

/** Namespace of the sample's claim. */
export const namespace = "nodevolume-quickstart";

export interface BesideOptions {
  readonly cluster: LocalCluster;
  readonly tools: CSIQuickstartTools;
  readonly xfsprogs: Xfsprogs;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Beside {
  /** By the order in which they were started. */
  readonly processes: readonly RunningProcess[];
  readonly storage: CSIStorage;
  /** Ends all, and what volumes there still are. */
  stop(): Promise<void>;
}

export async function startBeside(options: BesideOptions): Promise<Beside> {
  const { cluster, tools, xfsprogs, directory, env } = options;
  const { plane, logs } = cluster;
  // Loop devices are the machine's: those of another run must not be taken for ours.
  const storage = csiStorage(join(directory, `storage-${env[runVariable]}`));
  const accounts = join(directory, "accounts");
  mkdirSync(accounts, { recursive: true, mode: 0o700 });
  await defaultAccount(plane);
  const drivers = await startDrivers(cluster, storage, xfsprogs, env);
  const [{ outside: address }] = drivers as [RunningDriver];
  const processes = drivers.flatMap(({ process, registrar }) => [process, ...(registrar ? [registrar] : [])]);
  const place = { plane, directory: accounts, logs };
  const others: RunningProcess[] = [];
  for (const name of sidecars) others.push(await startSidecar(name, { ...place, program: tools[name], address }));
  others.push(await startControllerManager({ ...place, program: tools["kube-controller-manager"] }));
  return {
    processes: [...processes, ...others],
    storage,
    async stop() {
      for (const process of others.reverse()) await process.stop();
      for (const driver of drivers) await driver.stop();
      storage[Symbol.dispose]();
    },
  };
}

async function startDrivers(
  { plane, nodes, logs }: LocalCluster,
  storage: CSIStorage,
  xfsprogs: Xfsprogs,
  env: NodeJS.ProcessEnv,
): Promise<RunningDriver[]> {
  const drivers: RunningDriver[] = [];
  for (const node of nodes) {
    const driver = await startDriver(node.host, loopXfs(`id-of-${node.name}`, { storage, xfsprogs }), { logs, env });
    // There is no kubelet here: what one would write is written.
    await new FakeKubelet(plane.admin, node).registered(driver.name, driver.outside);
    await driver.register();
    drivers.push(driver);
  }
  return drivers;
}

/**
 * Without it a namespace takes no pod, not even on trial as our controller does; what makes it elsewhere does not run
 * here.
 */
async function defaultAccount({ admin }: Plane): Promise<void> {
  await apply(admin, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const metadata = { name: "default", namespace };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await apply(admin, accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
}

import { hash } from "node:crypto";
import type { CSIDrivers } from "../../csi/ports.ts";
import { mountIdentity } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { Traces } from "../../host/ports/evidence.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Plan } from "../model/volume-plan.ts";
import type { KubeletLife } from "./kubelet-life.ts";
import { type Leftover, leftovers } from "./kubelet-orphans.ts";
import { podsOnNode } from "./node-pods.ts";
import type { ReapWorld, StagedEvidence } from "./orphan-proof.ts";
import { type ReapPlace, reapPlace } from "./reap-place.ts";

/** Sources of the evidence about kubelet's leftovers. */
export interface GatherDeps {
  readonly client: Pick<KubeClient, "get" | "list">;
  readonly host: Pick<HostPorts, "mountTable" | "nodeTable"> & { readonly traces: Traces };
  readonly drivers: Pick<CSIDrivers, "driver">;
  readonly nodeName: string;
  readonly kubeletDir: string;
  readonly graceMs: number;
  readonly life: Pick<KubeletLife, "alive">;
  /** The newest; undefined: the intents were not read completely. */
  plan(): Plan | undefined;
}

/** The evidence at one moment, and what of kubelet's it shows to be left over. */
export interface GatheredReap {
  readonly world: ReapWorld;
  /** What kubelet has left by all of it. */
  readonly found: readonly Leftover[];
}

/**
 * Gathers the evidence for the removal of a mount at a path, all of it read now. The API server is read first, so that
 * the node's own evidence is never older. Rejects if any of it cannot be read.
 */
export async function gatherReap(deps: GatherDeps, path: string): Promise<GatheredReap> {
  const { client, host, nodeName, kubeletDir, graceMs, life } = deps;
  const pods = await podsOnNode(client, nodeName);
  const cgroups = await host.traces.pods();
  const staged = await stagedEvidence(deps, path);
  const own = await host.mountTable.read();
  const table = host.nodeTable === undefined ? own : await host.nodeTable.read();
  const plan = deps.plan();
  if (plan === undefined) throw new Error("the intents were not read completely");
  const volumes = [...plan.volumes.values()];
  const world = {
    kubeletDir,
    alive: life.alive,
    graceMs,
    pods,
    cgroups,
    table,
    own,
    volumes,
    ...(staged && { staged }),
  };
  return { world, found: leftovers({ table, kubeletDir, volumes, pods: cgroups, loops: [] }) };
}

async function stagedEvidence(deps: GatherDeps, path: string): Promise<StagedEvidence | undefined> {
  const { host, drivers, kubeletDir } = deps;
  const place = reapPlace(kubeletDir, path);
  const mount = (await (host.nodeTable ?? host.mountTable).read()).at(path);
  if (place?.kind !== "Staging" || mount === undefined) return undefined;
  const isKnown = (await handleOf(host.traces, place)) !== undefined;
  const driver = drivers.driver(place.driver);
  const unstages = driver !== undefined && (await driver.node.capabilities()).stageUnstage;
  const apart = await shownApart(host.traces, mount, place);
  return { isKnown, isRegistered: driver !== undefined, unstages, apart };
}

function shownApart(traces: Traces, mount: MountEntry, { driver, key }: ReapPlace & { kind: "Staging" }) {
  return traces.shownApart(mountIdentity(mount), `/${driver}/${key}/globalmount`);
}

/** The volume's handle, if what kubelet has written down is of the driver and the handle that the path is made of. */
export async function handleOf(
  traces: Traces,
  { directory, driver, key }: ReapPlace & { kind: "Staging" },
): Promise<string | undefined> {
  const written = await traces.stagedVolume(directory);
  const matches = written?.driver === driver && hash("sha256", written.volumeHandle, "hex") === key;
  return matches ? written.volumeHandle : undefined;
}

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resource } from "../../../../src/api/names.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import { type MeasuredController, startMeasured } from "../controller.ts";
import { type Requests, requestsBetween } from "../figures.ts";
import { takenBy } from "../resources-of.ts";
import { atMost } from "../through-api/at-most.ts";
import type { Way } from "./agent.ts";
import { type Metered, meterProcess } from "./meter.ts";
import { change } from "./plane.ts";
import { measureRest, type RestFigures } from "./rest.ts";
import { serverCounts } from "./server-metrics.ts";
import { untilSo } from "./until.ts";
import { type World, waitingFor } from "./world.ts";

export interface ConvergeFigures {
  readonly nodes: number;
  /**
   * A set for all nodes: from its creation to when each agent had said Mounted, and to when its status counted all of
   * them as ready.
   */
  readonly set: ConvergedFigures;
  /** A minute with all of that there, and nothing to do. */
  readonly rest: RestFigures;
  /** Half of the nodes lose the set's label: from the first to when their intents are gone. */
  readonly relabel: ConvergedFigures;
  readonly controllerPeakMiB: number;
  readonly controllerCpuSeconds: number;
}

export interface ConvergedFigures {
  readonly convergedMs: number;
  readonly countedMs: number;
  readonly server: Metered;
  readonly requests: Requests;
}

/** Nodes that are relabelled at a time. */
const atOnce = 16;
const zone = "topology.kubernetes.io/zone";
const setPath = resourcePath(resource.sets, { name: "everywhere" });
const set = {
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeSet",
  metadata: { name: "everywhere" },
  spec: {
    nodeSelector: { [zone]: "zone-a" }, // where all of them are at first
    volume: { source: { hostPath: { path: "/srv/shared", type: "Directory" } } },
    mounts: [{ name: "host", path: "/mnt/nodevolume/shared" }],
    rollout: { maxUnavailable: "100%" },
  },
};

/**
 * The real controller, a set for all nodes, and half of them that leave it. The agents renew their Leases from here on.
 */
export async function measureConvergence(
  world: World,
  { directory, restSeconds }: { directory: string; restSeconds: number },
): Promise<ConvergeFigures> {
  const { lab, fleet, report } = world;
  const { server, ca } = lab.plane;
  fleet.startLeases(leasesOverMs);
  const controller = startMeasured({
    ...{ directory: join(directory, "controller"), name: "controller", server, ca, token: lab.controllerToken },
    ...{ heap: undefined, profile: undefined, flags: controllerFlags(world.way) },
  });
  try {
    await untilSo(
      waitingFor(world, "the controller to lead"),
      () => controller.said("became the leader") !== undefined,
    );
    await sleep(leasesOverMs, undefined, { signal: world.signal }); // each agent's first sign of life
    const nodes = world.agents;
    const wholeSet = await measured(world, controller, `a set on ${nodes} nodes`, {
      begin: () => post(world),
      isConverged: () => Promise.resolve((fleet.total().said["Mounted"] ?? 0) >= nodes),
      isCounted: async () => (await setStatus(world)).ready === nodes,
    });
    const rest = await measureRest(world, restSeconds);
    const left = Math.ceil(nodes / 2);
    const relabel = await measured(world, controller, "half of the nodes to leave the set", {
      begin: () => relabelled(world, left),
      isConverged: async () => (await intentsOf(world)) <= left,
      isCounted: async () => (await setStatus(world)).ready === left,
    });
    const { peakMiB, cpuSeconds } = takenBy(controller.process.pid);
    return { nodes, set: wholeSet, rest, relabel, controllerPeakMiB: peakMiB, controllerCpuSeconds: cpuSeconds };
  } catch (error) {
    for (const line of controller.troubles()) report(`  ${line.slice(0, 300)}`);
    throw error;
  } finally {
    await controller.process.stop();
  }
}

/** The agents of a cluster were not started in the same moment. */
const leasesOverMs = 20_000;

/** PURE. What the controller has to be told for agents that hear of their intents in this way. */
export function controllerFlags(way: Way | undefined): readonly string[] {
  return way === "index" ? ["--index-intents", "true"] : [];
}

interface Convergence {
  readonly begin: () => Promise<void>;
  readonly isConverged: () => Promise<boolean>;
  readonly isCounted: () => Promise<boolean>;
}

async function measured(
  world: World,
  controller: MeasuredController,
  what: string,
  { begin, isConverged, isCounted }: Convergence,
): Promise<ConvergedFigures> {
  const { plane } = world.lab;
  const before = await serverCounts(plane.admin);
  const meter = meterProcess(() => plane.apiServer().pid);
  const from = performance.now();
  const more = () => `, controller ${takenBy(controller.process.pid).rssMiB} MiB`;
  const waiting = waitingFor(world, what, more);
  await begin();
  await untilSo(waiting, isConverged);
  const convergedMs = performance.now() - from;
  await untilSo({ ...waiting, what: `${what}, counted` }, isCounted);
  const countedMs = performance.now() - from;
  const server = meter.end();
  const requests = requestsBetween(before.requests, (await serverCounts(plane.admin)).requests);
  world.report(`  ${what}: ${(convergedMs / 1000).toFixed(1)} s, counted after ${(countedMs / 1000).toFixed(1)} s`);
  return { convergedMs, countedMs, server, requests };
}

async function post({ lab }: World): Promise<void> {
  const { status, body } = await lab.plane.admin.call("POST", resourcePath(resource.sets), { body: set });
  if (status !== 201) throw new Error(`POST ${resourcePath(resource.sets)}: ${status} ${String(body["message"])}`);
}

async function relabelled({ lab }: World, from: number): Promise<void> {
  const nodes = Array.from({ length: lab.nodes - from }, (_, index) => lab.node(from + index));
  await atMost(atOnce, nodes, async (name) => {
    const path = resourcePath(resource.nodes, { name });
    await change(lab.plane.admin, path, { metadata: { labels: { [zone]: "zone-b" } } });
  });
}

async function setStatus({ lab }: World): Promise<{ readonly ready?: number }> {
  const { body } = await lab.plane.admin.call("GET", setPath);
  return (body["status"] ?? {}) as { ready?: number };
}

async function intentsOf({ lab }: World): Promise<number> {
  const { body } = await lab.plane.admin.call("GET", `${resourcePath(resource.intents)}?limit=1`);
  const { remainingItemCount = 0 } = body["metadata"] as { remainingItemCount?: number };
  return (body["items"] as unknown[]).length + remainingItemCount;
}

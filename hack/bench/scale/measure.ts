import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commit } from "../lib/commit.ts";
import { controllerFlags } from "./agents/converge.ts";
import { type MeasuredController, startMeasured } from "./controller.ts";
import {
  type LifeFigures,
  perPod,
  quantilesOf,
  type RestartFigures,
  requestsBetween,
  type ScaleFigures,
  writesIn,
} from "./figures.ts";
import type { Counts } from "./generator/process.ts";
import type { Backend } from "./generator.ts";
import { longestTurnOf, mostlyIdle } from "./loop.ts";
import { restarted, type ScaleOptions } from "./options.ts";
import { takenBy } from "./resources-of.ts";

export interface Measurement {
  readonly options: ScaleOptions;
  /** For logs. */
  readonly directory: string;
  readonly report: (line: string) => void;
  /** Somebody has had enough: everything is stopped. */
  readonly signal: AbortSignal;
}

interface World extends Measurement {
  readonly generator: Backend;
  controller: MeasuredController;
  start(): MeasuredController;
}

/**
 * The real controller in a cluster that is pretended by `generator`: filled, at rest, with pods that come and go,
 * killed and started again.
 */
export async function measure(measurement: Measurement, generator: Backend): Promise<ScaleFigures> {
  const { options, directory, report } = measurement;
  const { shape } = options;
  let starts = 0;
  let world: World | undefined;
  try {
    const access = await generator.call("begin", shape);
    if (options.set) await generator.call("make", { plural: "nodevolumesets", object: setOnEachNode });
    const start = () => {
      starts += 1;
      const name = `controller-${starts}`;
      const { heap, profile, agents } = options;
      return startMeasured({ directory, name, ...access, heap, profile, flags: controllerFlags(agents) });
    };
    world = { ...measurement, generator, controller: start(), start };
    return await measureAll(world);
  } catch (error) {
    for (const line of world?.controller.troubles() ?? []) report(`  ${line.slice(0, 300)}`);
    throw error;
  } finally {
    await world?.controller.process.stop();
    await generator.stop();
  }
}

async function measureAll(world: World): Promise<ScaleFigures> {
  const { options, generator, report } = world;
  const { shape } = options;
  const pods = shape.nodes * shape.podsPerNode;
  const users = Math.ceil(pods / shape.oneInUses);
  const managed = users * shape.ours + (options.set ? shape.nodes : 0);
  const intents = users * shape.ordinary + managed;
  const { controller } = world;

  const { established } = shape;
  if (established) await until(world, "it to look at all there is", () => looked(world));
  const written = await until(world, `${intents} intents`, (counts) => counts.intents >= intents);
  const intentsWrittenMs = (established ? Date.now() : written.lastWriteAt) - controller.begunAt;
  const isMounted = ({ said }: Counts) => established || (said["Mounted"] ?? 0) >= managed;
  const mounted = await until(world, `${managed} of them mounted`, isMounted);
  const mountedMs = (established ? Date.now() : mounted.lastWriteAt) - controller.begunAt;
  await until(world, `${shape.nodes} NodeVolumeStates`, (counts) => counts.states >= shape.nodes);
  const filling = takenBy(controller.process.pid);
  report(`  all there after ${(mountedMs / 1000).toFixed(1)} s, ${filling.peakMiB} MiB, ${filling.cpuSeconds} s CPU`);

  const quiet = await rest(world, options.restSeconds);
  const life = options.lives > 0 ? await liveAndDie(world, quiet.cpuSeconds / quiet.seconds) : undefined;
  const requests = (await generator.call("counts", undefined)).requests;
  const terms = controller.times("became the leader");
  const restart = options.restart ? await killAndStart(world, intents) : undefined;
  return {
    nodes: shape.nodes,
    pods,
    claims: users * (shape.ordinary + shape.ours),
    intents,
    commit: commit(),
    cachesFilledMs: controller.said("caches filled") ?? Number.NaN,
    leadingMs: controller.said("became the leader") ?? Number.NaN,
    terms,
    longestTurnMs: longestTurnOf(controller.loop()),
    intentsWrittenMs,
    mountedMs,
    filling,
    atRest: quiet,
    ...(life && { life }),
    ...(restart && { restart }),
    requests,
  };
}

/**
 * Of an established cluster: it leads, is sent no list any more, and has had nothing to do for a while but to renew its
 * Lease. What it still works off shows in its event loop, whatever share of the processors it gets.
 */
async function looked({ generator, controller, signal }: World): Promise<boolean> {
  if (controller.said("became the leader") === undefined) return false;
  const before = await generator.call("counts", undefined);
  const from = Date.now();
  await sleep(quietSeconds * 1000, undefined, { signal });
  const after = await generator.call("counts", undefined);
  const asked = Object.keys(requestsBetween(before.requests, after.requests)).filter(
    (what) => !what.endsWith(" leases"),
  );
  if (before.listing + after.listing + asked.length > 0) return false;
  return mostlyIdle(controller.loop(), from, quietSeconds - 1);
}

async function rest(
  { generator, controller, report, signal }: World,
  seconds: number,
): Promise<ScaleFigures["atRest"]> {
  await sleep(5_000); // what followed the last write
  const before = await generator.call("counts", undefined);
  const { cpuSeconds } = takenBy(controller.process.pid);
  await sleep(seconds * 1000, undefined, { signal });
  const taken = takenBy(controller.process.pid);
  const requests = requestsBetween(before.requests, (await generator.call("counts", undefined)).requests);
  report(`  asked at rest: ${JSON.stringify(requests)}`);
  report(`  at rest: ${taken.rssMiB} MiB, ${(taken.cpuSeconds - cpuSeconds).toFixed(1)} s CPU in ${seconds} s`);
  return { ...taken, cpuSeconds: taken.cpuSeconds - cpuSeconds, seconds, requests };
}

/**
 * Pods that start one after the other, run, and stop.
 * @param atRest processor seconds that each second costs without them
 */
async function liveAndDie(world: World, atRest: number): Promise<LifeFigures> {
  const { options, generator, controller, report } = world;
  const { lives: count, everyMs, shape } = options;
  const order = { first: 0, count, everyMs };
  const users = Math.ceil(count / shape.oneInUses);
  const added = users * (shape.ordinary + shape.ours);
  const before = await generator.call("counts", undefined);
  const { cpuSeconds } = takenBy(controller.process.pid);
  const begun = performance.now();
  await generator.call("startPods", order);
  await until(world, `the intents of ${count} pods more`, ({ intents, said }) => {
    const mounted = (said["Mounted"] ?? 0) - (before.said["Mounted"] ?? 0);
    return intents >= before.intents + added && mounted >= users * shape.ours;
  });
  const latencies = await generator.call("latencies", undefined);
  await generator.call("stopPods", order);
  await until(world, "their end", ({ intents }) => intents <= before.intents);
  await sleep(3_000); // marks that are taken off after that
  const after = await generator.call("counts", undefined);
  const requests = requestsBetween(before.requests, after.requests);
  const cpuMs = (takenBy(controller.process.pid).cpuSeconds - cpuSeconds) * 1000;
  const life: LifeFigures = {
    pods: users,
    observed: quantilesOf(latencies.observed),
    managed: quantilesOf(latencies.managed),
    requestsAPod: perPod(requests, users),
    writesAPod: writesIn(requests) / users,
    cpuMsAPod: (cpuMs - atRest * (performance.now() - begun)) / users,
  };
  report(`  a pod's life: ${life.writesAPod.toFixed(1)} writes, ${life.cpuMsAPod.toFixed(1)} ms CPU`);
  return life;
}

/** As when its node dies: pods come while there is no controller. */
async function killAndStart(world: World, intents: number): Promise<RestartFigures> {
  const { options, generator, report } = world;
  const { shape, lives } = options;
  world.controller.process.kill("SIGKILL");
  await world.controller.process.ended;
  await generator.call("startPods", { first: lives, count: restarted, everyMs: 1 });
  const before = await generator.call("counts", undefined);
  const controller = world.start();
  world.controller = controller;
  const added = Math.ceil(restarted / shape.oneInUses) * (shape.ordinary + shape.ours);
  await until(world, "the next leader", () => controller.said("became the leader") !== undefined);
  const last = await until(world, "what came meanwhile", (counts) => counts.intents >= intents + added);
  await sleep(5_000);
  const end = added === 0 ? Date.now() : last.lastWriteAt;
  const { peakMiB, cpuSeconds } = takenBy(controller.process.pid);
  const { requests } = await generator.call("counts", undefined);
  report(`  started again: caught up after ${((end - controller.begunAt) / 1000).toFixed(1)} s, ${peakMiB} MiB`);
  report(`  requests of it: ${JSON.stringify(requestsBetween(before.requests, requests))}`);
  return {
    cachesFilledMs: controller.said("caches filled") ?? Number.NaN,
    leadingMs: controller.said("became the leader") ?? Number.NaN,
    caughtUpMs: end - controller.begunAt,
    terms: controller.times("became the leader"),
    longestTurnMs: longestTurnOf(controller.loop()),
    peakMiB,
    cpuSeconds,
  };
}

/** More than there is between a list that has ended and what follows from it. */
const quietSeconds = 5;
/** Milliseconds between two looks, and between two lines about what is waited for. */
const lookMs = 250;
const tellMs = 15_000;

async function until(
  { generator, controller, options, report, signal }: World,
  what: string,
  isSo: (counts: Counts) => boolean | Promise<boolean>,
): Promise<Counts> {
  const begun = performance.now();
  let told = begun;
  for (;;) {
    signal.throwIfAborted();
    const counts = await generator.call("counts", undefined);
    if (await isSo(counts)) return counts;
    const ending = controller.process.ending();
    if (ending !== undefined) throw new Error(`the controller ${ending}; its log is ${controller.process.logFile}`);
    const now = performance.now();
    if (now - begun > options.patienceMinutes * 60_000) throw new Error(`waited in vain for ${what}: ${said(counts)}`);
    if (now - told > tellMs) {
      told = now;
      const { rssMiB, cpuSeconds } = takenBy(controller.process.pid);
      report(`  waiting for ${what}: ${said(counts)}, controller ${rssMiB} MiB, ${cpuSeconds} s CPU`);
    }
    await sleep(lookMs);
  }
}

function said({ intents, states, said: by }: Counts): string {
  return `${intents} intents, ${states} states, statuses ${JSON.stringify(by)}`;
}

const setOnEachNode = {
  metadata: { name: "everywhere" },
  spec: {
    volume: { source: { hostPath: { path: "/srv/shared", type: "Directory" } } },
    mounts: [{ name: "host", path: join("/mnt/nodevolume", "shared") }],
  },
};

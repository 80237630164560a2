import { setTimeout as sleep } from "node:timers/promises";
import { resource } from "../../../../src/api/names.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import { perPod, type Quantiles, quantilesOf, type Requests, requestsBetween } from "../figures.ts";
import { type Metered, meterProcess } from "./meter.ts";
import { change } from "./plane.ts";
import { serverCounts } from "./server-metrics.ts";
import { untilSo } from "./until.ts";
import { volumeName } from "./volumes.ts";
import { beyondRest, type World, waitingFor } from "./world.ts";

export interface ChangeFigures {
  readonly changes: number;
  /** Milliseconds from when the controller's write of a spec is sent to when the node's agent has that spec. */
  readonly seen: Quantiles;
  /** Milliseconds until the server has answered that write. */
  readonly written: Quantiles;
  readonly server: Metered;
  /** Of a change, all that it leads to: the server's processor time beyond rest, in milliseconds. */
  readonly cpuMsAChange: number;
  /** Requests of a change. */
  readonly requests: Requests;
}

export interface ChangesOptions {
  readonly count: number;
  readonly everyMs: number;
  /** What the server takes at rest, of a processor. */
  readonly coresAtRest: number;
}

/** Specs that change one after the other, each of another node: the agent reads it and writes its status. */
export async function measureChanges(
  world: World,
  { count, everyMs, coresAtRest }: ChangesOptions,
): Promise<ChangeFigures> {
  const { lab, fleet, report, signal, agents } = world;
  const { admin } = lab.plane;
  const saidBefore = mounted(world);
  const seenAt = new Map<string, bigint>();
  fleet.onSeen(({ name, generation, at }) => seenAt.set(`${name} ${generation}`, BigInt(at)));
  const before = await serverCounts(admin);
  const meter = meterProcess(() => lab.plane.apiServer().pid);
  const sent: { key: string; at: bigint }[] = [];
  const written: number[] = [];
  const all: Promise<void>[] = [];
  const from = performance.now();
  for (let index = 0; index < count; index += 1) {
    await sleep(Math.max(0, from + index * everyMs - performance.now()), undefined, { signal });
    world.changes += 1;
    all.push(write(Math.floor((index * agents) / count), 100 + (world.changes % 1_000))); // another one than it was
  }
  await Promise.all(all);
  const isSeen = () => sent.every(({ key }) => seenAt.has(key)) && mounted(world) >= saidBefore + count;
  await untilSo(waitingFor(world, `${count} changes to be seen`), isSeen);
  await sleep(500, undefined, { signal }); // what follows a status
  const server = meter.end();
  const requests = requestsBetween(before.requests, (await serverCounts(admin)).requests);
  fleet.onSeen(() => {});
  const latencies = sent.map(({ key, at }) => Number((seenAt.get(key) ?? at) - at) / 1e6);
  const cpuMs = beyondRest(server.cpuSeconds, server.seconds, coresAtRest) * 1000;
  const figures = {
    changes: count,
    seen: quantilesOf(latencies),
    written: quantilesOf(written),
    server,
    cpuMsAChange: cpuMs / count,
    requests: perPod(requests, count),
  };
  const { p50, p99 } = figures.seen;
  report(
    `  ${count} changes: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${figures.cpuMsAChange.toFixed(1)} ms CPU each`,
  );
  return figures;

  async function write(node: number, timeoutSeconds: number): Promise<void> {
    const path = resourcePath(resource.intents, { name: volumeName(lab.node(node), 0) });
    const at = process.hrtime.bigint();
    const { metadata } = await change(lab.controller, path, { spec: { unmountPolicy: { timeoutSeconds } } });
    written.push(Number(process.hrtime.bigint() - at) / 1e6);
    sent.push({ key: `${metadata.name} ${metadata.generation}`, at });
  }
}

function mounted({ fleet }: World): number {
  return fleet.total().said["Mounted"] ?? 0;
}

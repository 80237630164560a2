import { setTimeout as sleep } from "node:timers/promises";
import { type Requests, requestsBetween, writesIn } from "../figures.ts";
import { type Metered, meterProcess } from "./meter.ts";
import { named, serverCounts } from "./server-metrics.ts";
import { untilQuiet } from "./until-quiet.ts";
import type { World } from "./world.ts";

export interface RestFigures {
  readonly seconds: number;
  /** But for Leases, which are for who lives, and Events. */
  readonly writes: number;
  readonly requests: Requests;
  readonly server: Metered;
}

/** Nothing changes: what is asked of the server all the same. */
export async function measureRest(world: World, seconds: number): Promise<RestFigures> {
  const { lab, report, signal } = world;
  const { plane } = lab;
  await untilQuiet(world);
  const before = await serverCounts(plane.admin);
  const meter = meterProcess(() => plane.apiServer().pid);
  await sleep(seconds * 1000, undefined, { signal });
  const server = meter.end();
  const requests = requestsBetween(before.requests, (await serverCounts(plane.admin)).requests);
  const writes = writesIn(named(requests));
  report(`  at rest for ${seconds} s: ${writes} writes; ${JSON.stringify(requests)}`);
  return { seconds, writes, requests, server };
}

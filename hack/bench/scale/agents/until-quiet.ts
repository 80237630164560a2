import { setTimeout as sleep } from "node:timers/promises";
import { requestsBetween, writesIn } from "../figures.ts";
import { named, serverCounts } from "./server-metrics.ts";
import { untilSo } from "./until.ts";
import { type World, waitingFor } from "./world.ts";

/**
 * Milliseconds without a write after which all that follows from a change is written: a node's state is, five seconds
 * later.
 */
const quietMs = 6_000;

/** Waits until nobody has written anything but Leases for a while, by the server's own counts. */
export async function untilQuiet(world: World): Promise<void> {
  const { admin } = world.lab.plane;
  let before = await serverCounts(admin);
  await untilSo(waitingFor(world, "the last write"), async () => {
    await sleep(quietMs, undefined, { signal: world.signal });
    const now = await serverCounts(admin);
    const written = writesIn(named(requestsBetween(before.requests, now.requests)));
    before = now;
    return written === 0;
  });
}

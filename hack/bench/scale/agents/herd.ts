import { type Metered, meterProcess } from "./meter.ts";
import { serverCounts } from "./server-metrics.ts";
import { untilSo } from "./until.ts";
import { type World, waitingFor } from "./world.ts";

export interface HerdFigures {
  readonly agents: number;
  /** From the kill to the first answer that the next server is ready. */
  readonly readyMs: number;
  /** From there to when every agent has read its intents again and hears of changes. */
  readonly connectedMs: number;
  /** Of the next server, from its start to when all are back. */
  readonly server: Metered;
  /** Watches that were asked for and not answered, at most. */
  readonly peakOpening: number;
  /** Requests that executed, and that waited in flow control, at most, as looked at each second. */
  readonly peakInFlight: number;
  readonly peakQueued: number;
  /** Requests answered with 429. */
  readonly refused: number;
  /** How often watches were opened again, by why. */
  readonly restarts: { readonly [why: string]: number };
  /** Of the agents' processes together. */
  readonly agentsCpuSeconds: number;
}

/** Looks at the server's own metrics, which cost it some tens of milliseconds. */
const metricsMs = 1_000;

/** The API server is killed and started again at once: all agents come back. */
export async function measureHerd(world: World): Promise<HerdFigures> {
  const { lab, fleet, report, agents } = world;
  const { plane } = lab;
  const before = { ...fleet.total(), cpu: fleet.taken().cpuSeconds };
  const begun = performance.now();
  plane.apiServer().kill("SIGKILL");
  await plane.apiServer().ended;
  let peakOpening = 0;
  const looking = setInterval(() => {
    peakOpening = Math.max(peakOpening, fleet.total().opening);
  }, 100);
  let meter: ReturnType<typeof meterProcess> | undefined;
  try {
    await plane.startApiServer(({ pid }) => {
      meter = meterProcess(() => pid);
    });
    const readyMs = performance.now() - begun;
    let [peakInFlight, peakQueued, lookedAt] = [0, 0, performance.now()];
    const connectedMs = await untilSo(waitingFor(world, `${agents} agents to come back`), async () => {
      if (performance.now() - lookedAt > metricsMs) {
        const { inFlight, queued } = await serverCounts(plane.admin);
        peakInFlight = Math.max(peakInFlight, inFlight);
        peakQueued = Math.max(peakQueued, queued);
        lookedAt = performance.now();
      }
      const { connected } = fleet.total();
      return connected === agents;
    });
    const server = meter?.end();
    meter = undefined;
    if (server === undefined) throw new Error("the API server was not looked at");
    const { refused } = await serverCounts(plane.admin);
    const { restarts } = fleet.total();
    const reasons = Object.entries(restarts).map(([why, count]) => [why, count - (before.restarts[why] ?? 0)] as const);
    const figures = {
      ...{ agents, readyMs, connectedMs, server, peakOpening, peakInFlight, peakQueued, refused },
      restarts: Object.fromEntries(reasons),
      agentsCpuSeconds: fleet.taken().cpuSeconds - before.cpu,
    };
    report(
      `  API server killed: ready after ${s(readyMs)}, all agents back ${s(connectedMs)} later, ${server.peakMiB} MiB`,
    );
    return figures;
  } finally {
    clearInterval(looking);
    meter?.end();
  }
}

function s(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

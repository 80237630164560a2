import { setTimeout as sleep } from "node:timers/promises";
import { type Metered, meterProcess } from "./meter.ts";
import { untilSo } from "./until.ts";
import { untilQuiet } from "./until-quiet.ts";
import { type World, waitingFor } from "./world.ts";

export interface GrownFigures {
  readonly added: number;
  /** From the first of them to when all had read their intents. */
  readonly connectedMs: number;
  readonly server: Metered;
  /** With all agents there and nothing to do but bookmarks. */
  readonly idle: Metered;
}

/** Starts agents until there are so many, and looks at what the server takes while they wait. */
export async function grow(
  world: World,
  to: number,
  { perSecond, idleSeconds }: { readonly perSecond: number; readonly idleSeconds: number },
): Promise<GrownFigures> {
  const { lab, fleet, report, signal } = world;
  const added = to - world.agents;
  report(`  tokens of ${added} agents`);
  const identities = await lab.identities(world.agents, added);
  const server = () => lab.plane.apiServer().pid;
  const growing = meterProcess(server);
  fleet.start(identities, perSecond);
  world.agents = to;
  const connectedMs = await untilSo(waitingFor(world, `${to} agents to be connected`), () => {
    const { agents, connected } = fleet.total();
    return agents === to && connected === to;
  });
  const figures = { added, connectedMs, server: growing.end() };
  await untilQuiet(world);
  const resting = meterProcess(server);
  await sleep(idleSeconds * 1000, undefined, { signal });
  const idle = resting.end();
  const cores = (idle.cpuSeconds / idle.seconds).toFixed(2);
  report(
    `  ${to} agents connected in ${(connectedMs / 1000).toFixed(1)} s; server ${idle.rssMiB} MiB, ${cores} processors at rest`,
  );
  return { ...figures, idle };
}

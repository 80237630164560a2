import type { Way } from "./agent.ts";
import type { Fleet } from "./fleet.ts";
import type { Lab } from "./plane.ts";
import type { Waiting } from "./until.ts";

/** What every part of a run works with. */
export interface World {
  readonly way: Way;
  readonly lab: Lab;
  readonly fleet: Fleet;
  /** Agents that were started. */
  agents: number;
  /** Changes that were made. */
  changes: number;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly patienceMs: number;
}

/** For untilSo, with what the agents have come to as the progress. */
export function waitingFor(world: World, what: string, more: () => string = () => ""): Waiting {
  const { report, signal, patienceMs, fleet } = world;
  const progress = () => {
    const { agents, connected, opening, said, failures } = fleet.total();
    const counts = `statuses ${JSON.stringify(said)}, failures ${JSON.stringify(failures)}`;
    return `${connected} of ${agents} agents connected, ${opening} watches asked for, ${counts}${more()}`;
  };
  return { what, patienceMs, report, signal, progress };
}

/** Processor seconds that a server took for something, less what it takes in the same time at rest. PURE. */
export function beyondRest(cpuSeconds: number, seconds: number, coresAtRest: number): number {
  return Math.max(0, cpuSeconds - coresAtRest * seconds);
}

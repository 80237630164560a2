import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../../src/errors.ts";
import { realSystem } from "../../../../src/system.ts";
import { silent } from "../../../lib/silent-log.ts";
import type { NoiseMeter } from "../../report/noise.ts";
import type { Way } from "./agent.ts";
import { measureChanges } from "./changes.ts";
import { measureConvergence } from "./converge.ts";
import type { AgentsFigures, SizeFigures } from "./figures.ts";
import { createFleet } from "./fleet.ts";
import { grow } from "./grow.ts";
import { measureHerd } from "./herd.ts";
import { startIndexWriter } from "./index-writer.ts";
import type { AgentsOptions } from "./options.ts";
import { startLab } from "./plane.ts";
import type { World } from "./world.ts";

export interface Measurement {
  readonly options: AgentsOptions;
  /** On a disk, for etcd. */
  readonly directory: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly noise: NoiseMeter;
}

/** Each way in a cluster of its own, at each size. What ends one is told, and what was measured before it stays. */
export async function measureWays(measurement: Measurement): Promise<Pick<AgentsFigures, "sizes" | "failures">> {
  const { options, report, signal } = measurement;
  const sizes: SizeFigures[] = [];
  const failures: { way: Way; error: string }[] = [];
  for (const way of options.ways) {
    try {
      report(`${way}:`);
      await measureWay(measurement, way, (size) => {
        if (sizes.at(-1)?.way === way && sizes.at(-1)?.agents === size.agents) sizes.pop();
        sizes.push(size);
      });
    } catch (error) {
      if (signal.aborted) throw error;
      report(`  ended: ${messageOf(error)}`);
      failures.push({ way, error: messageOf(error) });
    }
  }
  return { sizes, failures };
}

async function measureWay(
  { options, directory: parent, report, signal: stopped, noise }: Measurement,
  way: Way,
  tell: (size: SizeFigures) => void,
): Promise<void> {
  const directory = join(parent, way);
  mkdirSync(directory);
  const ended = new AbortController();
  const signal = AbortSignal.any([stopped, ended.signal]);
  const ends: (() => Promise<void>)[] = [];
  try {
    const { nodes, volumes, kwokLeaseSeconds, patienceMs } = options;
    const lab = await startLab({ way, nodes, volumes, kwokLeaseSeconds, directory, report });
    ends.push(() => lab.stop());
    const { server, ca } = lab.plane;
    const fleet = createFleet({ server, ca, way }, options.processes, (why) => ended.abort(new Error(why)));
    ends.push(() => fleet.stop());
    if (way === "index" && !options.converge) {
      const index = startIndexWriter({ system: realSystem(silent), client: lab.plane.admin, failed: onceEach(report) });
      ends.push(() => index.stop());
    }
    const world: World = { way, lab, fleet, agents: 0, changes: 0, report, signal, patienceMs };
    for (const size of options.sizes) {
      noise.sample();
      await measureSize(world, options, { size, directory, tell });
    }
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Size {
  readonly size: number;
  readonly directory: string;
  /** Told of the same size again as it is measured: what ends it does not take what came before. */
  readonly tell: (size: SizeFigures) => void;
}

async function measureSize(world: World, options: AgentsOptions, { size, directory, tell }: Size): Promise<void> {
  const { way, fleet, lab } = world;
  const { converge, restSeconds, everyMs } = options;
  const grown = await grow(world, size, options);
  let figures: SizeFigures = { way, agents: size, grown, agentsMiB: fleet.taken().rssMiB };
  const add = (more: Partial<SizeFigures>) => {
    figures = { ...figures, ...more };
    tell(figures);
  };
  add({});
  const coresAtRest = grown.idle.cpuSeconds / grown.idle.seconds;
  const count = Math.min(options.changes, size);
  if (!converge) add({ changes: await measureChanges(world, { count, everyMs, coresAtRest }) });
  const isLast = size === lab.nodes;
  if (options.herd === "each" || (options.herd === "last" && isLast)) add({ herd: await measureHerd(world) });
  if (converge && isLast) add({ converge: await measureConvergence(world, { directory, restSeconds }) });
}

/** The first of each kind: what goes wrong does so for many agents. */
function onceEach(report: (line: string) => void): (error: string) => void {
  const told = new Set<string>();
  return (error) => {
    const kind = error.replaceAll(/\d+/g, "…");
    if (!told.has(kind)) report(`  ${error}`);
    told.add(kind);
  };
}

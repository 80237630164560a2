// Ours through a real API server and etcd: what each scenario measures there.
import { setTimeout as sleep } from "node:timers/promises";
import { unmountAndWatch } from "../../quickstart/repair.ts";
import type { Sample } from "../report/row.ts";
import { figuresOf } from "../report/statistics.ts";
import { type BenchCluster, startBenchCluster } from "./cluster.ts";
import { type Kind, targetOf } from "./intents.ts";
import { mountAll, type Pods, podsOf, unmountAll } from "./mount.ts";
import { cpuMs, meterProcessors, residentMiB } from "./processes.ts";
import { type Seen, watchIntents } from "./seen.ts";

export interface ThroughApi {
  /** Pods come, and go in the same rhythm. */
  comeAndGo(pods: Pods): Promise<Sample>;
  /** Everything mounted and nothing to do. */
  idle(of: { readonly volumes: number; readonly kind: Kind; readonly seconds: number }): Promise<Sample>;
  /**
   * The agent is killed, and another is started on what is mounted: until a volume that is asked for meanwhile is
   * Ready.
   */
  restart(of: { readonly pods: number; readonly volumes: number; readonly kind: Kind }): Promise<Sample>;
  /** Each mount is unmounted on the host, one after the other: how long it is gone there. */
  drift(of: { readonly volumes: number; readonly kind: Kind }): Promise<Sample>;
  stop(): Promise<void>;
}

/** How long what was put off may take after all is mounted, in milliseconds. */
const restMs = 2_500;

/**
 * Starts the cluster, and mounts and unmounts once: caches and compiled code are those of an agent that has run a
 * while.
 */
export async function startThroughApi(directory: string, report: (line: string) => void): Promise<ThroughApi> {
  const cluster = await startBenchCluster(directory, report);
  const stopped = new AbortController();
  const seen = await watchIntents(cluster.controller, stopped.signal);
  const world = new World(cluster, seen);
  await world.comeAndGo({ pods: 20, volumes: 1, kind: "mem", intervalMs: 20 });
  await world.comeAndGo({ pods: 20, volumes: 1, kind: "local", intervalMs: 20 });
  return Object.assign(world, {
    async stop() {
      stopped.abort();
      await cluster.stop();
    },
  });
}

class World {
  readonly #cluster: BenchCluster;
  readonly #seen: Seen;
  #round = 0;

  constructor(cluster: BenchCluster, seen: Seen) {
    this.#cluster = cluster;
    this.#seen = seen;
  }

  async comeAndGo(wanted: Pods): Promise<Sample> {
    const pods = this.#pods(wanted);
    this.#seen.reset();
    const meter = meterProcessors(this.#cluster);
    const mount = await mountAll(this.#cluster, this.#seen, pods, wanted);
    const processors = meter();
    await sleep(restMs);
    const writes = pods.flat().map((name) => this.#seen.statusWrites.get(name) ?? 0);
    const unmount = await unmountAll(this.#cluster, this.#seen, pods, wanted);
    await sleep(restMs);
    return {
      ...figuresOf("mount", mount),
      ...figuresOf("unmount", unmount),
      statusWritesAVolume: writes.reduce((sum, count) => sum + count, 0) / writes.length,
      ...processors,
    };
  }

  idle({ volumes, kind, seconds }: { volumes: number; kind: Kind; seconds: number }): Promise<Sample> {
    return this.#mounted({ pods: volumes, volumes: 1, kind }, async () => {
      await sleep(10_000);
      const { pid } = this.#cluster.agent();
      const before = cpuMs(pid);
      const since = performance.now();
      await sleep(seconds * 1000);
      const minutes = (performance.now() - since) / 60_000;
      return { cpuSecondsAMinute: (cpuMs(pid) - before) / minutes / 1000, rssMiB: residentMiB(pid) };
    });
  }

  restart(of: { pods: number; volumes: number; kind: Kind }): Promise<Sample> {
    return this.#mounted(of, async (names) => {
      const next = this.#pods({ pods: 1, volumes: 1, kind: of.kind, intervalMs: 0 });
      this.#seen.reset();
      const [, [ready = Number.NaN]] = await Promise.all([
        this.#cluster.restartAgent(),
        mountAll(this.#cluster, this.#seen, next, { kind: of.kind, intervalMs: 0 }),
      ]);
      await sleep(restMs);
      const statusWrites = names.reduce((sum, name) => sum + (this.#seen.statusWrites.get(name) ?? 0), 0);
      await unmountAll(this.#cluster, this.#seen, next, { intervalMs: 0 });
      return { ready, statusWrites };
    });
  }

  drift({ volumes, kind }: { volumes: number; kind: Kind }): Promise<Sample> {
    return this.#mounted({ pods: volumes, volumes: 1, kind }, async (names) => {
      const gone: number[] = [];
      for (const name of names) {
        const { goneMs } = await unmountAndWatch(this.#cluster.host, targetOf(name));
        gone.push(goneMs);
        await sleep(50);
      }
      return { ...figuresOf("repaired", gone), repaired: gone.length };
    });
  }

  async #mounted(
    of: { pods: number; volumes: number; kind: Kind },
    measure: (names: readonly string[]) => Promise<Sample>,
  ): Promise<Sample> {
    const wanted = { ...of, intervalMs: 0 };
    const pods = this.#pods(wanted);
    this.#seen.reset();
    await mountAll(this.#cluster, this.#seen, pods, wanted);
    await sleep(restMs);
    const sample = await measure(pods.flat());
    await unmountAll(this.#cluster, this.#seen, pods, wanted);
    await sleep(restMs);
    return sample;
  }

  #pods(wanted: Pods): string[][] {
    this.#round += 1;
    return podsOf(`r${this.#round}`, wanted);
  }
}

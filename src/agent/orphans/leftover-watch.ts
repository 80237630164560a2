import { timestamp } from "../../api/conditions.ts";
import type { Evidence, HostPorts } from "../../host/ports/host-ports.ts";
import type { Clock } from "../../ports.ts";
import type { Plan } from "../model/volume-plan.ts";
import { BusyMounts } from "./busy-mounts.ts";
import { type Leftover, leftoverKey, leftovers } from "./kubelet-orphans.ts";

/** Dependencies of looking for kubelet's leftovers. Without `kubeletDir` there are none. */
export interface LeftoverWatchDeps {
  readonly clock: Clock;
  readonly host: Pick<HostPorts, "mountTable" | "nodeTable" | "traces"> & {
    readonly evidence: Pick<Evidence, "users">;
  };
  readonly kubeletDir: string | undefined;
}

interface Look {
  /** Each with since when. */
  readonly orphans: readonly (Leftover & { readonly since: string })[];
  /** Milliseconds after which something more may be to be told. */
  readonly againInMs?: number;
}

/**
 * Milliseconds for which something must have been there: kubelet takes a pod down in steps, and its own housekeeping
 * comes after two seconds, a driver's call after up to two minutes (behaviours 46, 49).
 */
const graceMs = 150_000;

/** What kubelet has left on the node, once it has been there for a while. */
export class LeftoverWatch {
  readonly #deps: LeftoverWatchDeps;
  /** Wall time at which each was first seen, by path, mount and kind. */
  #since = new Map<string, number>();
  readonly #busy: BusyMounts;

  constructor(deps: LeftoverWatchDeps) {
    this.#deps = deps;
    this.#busy = new BusyMounts({ clock: deps.clock, users: (path) => deps.host.evidence.users(path) });
  }

  /** Takes in what a plan shows, at once and in no time. */
  note(plan: Plan): void {
    this.#busy.note(plan);
  }

  /** @returns what is to be told; nothing while it cannot be known */
  async look(plan: Plan): Promise<Look> {
    const { clock, host, kubeletDir } = this.#deps;
    if (kubeletDir === undefined || host.traces === undefined || !plan.synced) return { orphans: [] };
    const table = await (host.nodeTable ?? host.mountTable).read();
    const [pods, loops] = await Promise.all([host.traces.pods(), host.traces.staleLoops()]);
    const found = leftovers({ table, kubeletDir, volumes: plan.volumes.values(), pods, loops });
    const now = clock.now();
    const aged = found.map((one) => {
      const key = leftoverKey(one);
      return { one, key, since: this.#since.get(key) ?? now };
    });
    this.#since = new Map(aged.map(({ key, since }) => [key, since]));
    const { busy, againInMs } = await this.#busy.look(plan, table);
    const told = new Set(busy.map(({ path }) => path));
    const young = aged.map(({ since }) => since + graceMs - now).filter((ms) => ms > 0);
    const orphans = aged.flatMap(({ one, since }) => {
      return since + graceMs > now || told.has(one.path) ? [] : [{ ...one, since: timestamp(since) }];
    });
    const waits = [...young, ...(againInMs === undefined ? [] : [againInMs])];
    const all = [...busy.map((one) => ({ ...one, since: timestamp(one.since) })), ...orphans];
    return { orphans: all, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
  }
}

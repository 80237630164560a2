import type { Lease } from "../../kube/leases/lease.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel, Timers } from "../../ports.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";

/** What an edition of the page shows of agents changes with the time alone: nothing is written of one that is late. */
export interface LateAgents {
  /** An edition is begun. */
  begin(): void;
  /** It shows the agent of a node as it is now. */
  shown(node: string): void;
  /** It is done. */
  end(): void;
  stop(): void;
}

export interface LateAgentsDeps {
  readonly timers: Timers;
  readonly leases: Pick<AgentLeases, "of" | "lateForMs">;
  readonly store: ObjectStore<Lease>;
  /** Called when the last edition shows an agent otherwise than it is. */
  readonly changed: () => void;
}

/** While renewals are not seen, time stands still for agents, and not for us. */
const soonestMs = 5_000;

export function createLateAgents({ timers, leases, store, changed }: LateAgentsDeps): LateAgents {
  /** Shown as late or lost. */
  const overdue = new Set<string>();
  let nextInMs = Number.POSITIVE_INFINITY;
  let cancelNext: Cancel | undefined;
  const cancel = store.subscribe({
    onUpdate: (_, { metadata }) => {
      if (overdue.has(metadata.name)) changed();
    },
  });
  return {
    begin() {
      overdue.clear();
      nextInMs = Number.POSITIVE_INFINITY;
    },
    shown(node) {
      const lateForMs = leases.lateForMs(node);
      if (lateForMs === undefined) return;
      if (lateForMs >= 0) overdue.add(node);
      for (const forMs of [lateForMs, leases.of(node).expiredForMs])
        if (forMs < 0) nextInMs = Math.min(nextInMs, -forMs);
    },
    end() {
      cancelNext?.();
      cancelNext =
        nextInMs < Number.POSITIVE_INFINITY ? timers.after(Math.max(soonestMs, nextInMs), changed) : undefined;
    },
    stop() {
      cancel();
      cancelNext?.();
    },
  };
}

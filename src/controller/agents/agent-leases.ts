import type { KubeObject } from "../../api/meta.ts";
import { agentLeaseSeconds, type Lease, type LeaseValidity, leaseValidity } from "../../kube/leases/lease.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel, Clock } from "../../ports.ts";
import type { AgentLiveness, AgentState } from "../model/agent-state.ts";
import type { NodeFacts } from "../model/node-facts.ts";

/** What the Lease of an agent shows of it. */
export interface SignOfLife {
  readonly state: AgentLiveness;
  /** Milliseconds since the Lease ran out; negative while it is valid. */
  readonly expiredForMs: number;
}

/**
 * Liveness of the nodes' agents, by the renewals of their Leases that this process has seen. Only our own monotonic
 * clock counts, from the moment when a renewal was first seen: timestamps of other machines are not trusted. Time
 * without a working watch does not count, so that an outage of the API server marks no agent lost.
 */
export interface AgentLeases {
  of(node: string): SignOfLife;
  /**
   * Milliseconds since a renewal of the node's Lease is overdue; negative until then. undefined: it has no Lease.
   * For people alone: nothing is decided by it (decision 0113).
   */
  lateForMs(node: string): number | undefined;
  /** Milliseconds for which we have seen both: no Node of this name, and an agent's Lease that has run out. Else 0. */
  lostForMs(node: string): number;
  /** What the end of an intent may rest on in the place of its agent's word. */
  silence(node: string): Pick<NodeFacts, "lostForMs" | "silentForMs" | "renewedForMs">;
  stop(): void;
}

/**
 * Dependencies of judging agents by their Leases: the watched Leases, and a monotonic clock of our own, as clocks of
 * nodes are not compared.
 */
export interface AgentLeasesDeps {
  readonly clock: Clock;
  readonly leases: ObjectStore<Lease>;
  readonly nodes: ObjectStore<KubeObject>;
  readonly namespace: string;
}

interface Heard {
  /** undefined: there is no Lease. */
  readonly renewTime: string | undefined;
  /** Monotonic milliseconds when that was first seen, or when we began to watch again. */
  readonly at: number;
  /** Monotonic milliseconds when a renewal was last seen to come; undefined: never. That we watch again is none. */
  readonly renewedAt: number | undefined;
  /** Since when we saw nothing: the next renewal may have been written at any time since, and counts from then. */
  readonly unseenSince?: number;
}

export function createAgentLeases({ clock, leases, nodes, namespace }: AgentLeasesDeps): AgentLeases {
  const heard = new Map<string, Heard>();
  const absentSince = new Map<string, number>();
  /** Time stands still while we do not see renewals. */
  let blindSince: number | undefined;

  const now = () => blindSince ?? clock.monotonic();

  function hear(node: string): Heard {
    const renewTime = leases.get(node, namespace)?.spec.renewTime;
    const known = heard.get(node);
    if (known !== undefined && known.renewTime === renewTime) return known;
    const at = now();
    const renewedAt = known !== undefined && renewTime !== undefined ? (known.unseenSince ?? at) : known?.renewedAt;
    const next = { renewTime, at, renewedAt };
    heard.set(node, next);
    return next;
  }

  function onState(): void {
    const seeing = leases.state().connected && nodes.state().connected;
    if (!seeing) {
      blindSince ??= clock.monotonic();
      return;
    }
    if (blindSince === undefined) return;
    const since = blindSince;
    blindSince = undefined;
    const at = clock.monotonic();
    for (const [node, known] of heard) heard.set(node, { ...known, at, unseenSince: known.unseenSince ?? since });
    for (const node of absentSince.keys()) absentSince.set(node, at);
  }

  const hearOf = ({ metadata }: Lease) => void hear(metadata.name);
  const cancels: Cancel[] = [
    leases.subscribe({ onAdd: hearOf, onUpdate: (_, after) => hearOf(after), onDelete: hearOf, onState }),
    nodes.subscribe({
      onAdd: ({ metadata }) => void absentSince.delete(metadata.name),
      onDelete: ({ metadata }) => void absentSince.set(metadata.name, now()),
      onState,
    }),
  ];

  function validity(node: string): LeaseValidity {
    const { at } = hear(node);
    // At most ours: a node that was taken over would name a thousand years in its Lease, and never be lost.
    const named = leases.get(node, namespace)?.spec.leaseDurationSeconds ?? agentLeaseSeconds;
    return leaseValidity(Math.min(named, agentLeaseSeconds), now() - at);
  }

  function of(node: string): SignOfLife {
    const { renewTime, renewedAt } = hear(node);
    const { state, expiredForMs } = validity(node);
    if (state === "expired") return { state: "lost", expiredForMs };
    return { state: renewTime !== undefined && renewedAt !== undefined ? "live" : "unknown", expiredForMs };
  }

  function lateForMs(node: string): number | undefined {
    return hear(node).renewTime === undefined ? undefined : validity(node).lateForMs;
  }

  function absentForMs(node: string): number {
    if (nodes.get(node) !== undefined) return 0;
    const since = absentSince.get(node) ?? now();
    absentSince.set(node, since);
    return now() - since;
  }

  function lostForMs(node: string): number {
    return Math.max(0, Math.min(absentForMs(node), of(node).expiredForMs));
  }

  return {
    of,
    lateForMs,
    lostForMs,
    silence(node) {
      const { renewedAt } = hear(node);
      const renewedForMs = renewedAt === undefined ? undefined : clock.monotonic() - renewedAt;
      return { lostForMs: lostForMs(node), silentForMs: of(node).expiredForMs, renewedForMs };
    },
    stop() {
      for (const cancel of cancels) cancel();
    },
  };
}

/** PURE. The state of an agent for people: `late` is a Lease that is overdue, before the agent counts as lost. */
export function agentState(leases: AgentLeases, node: string): AgentState {
  const { state } = leases.of(node);
  return state !== "lost" && (leases.lateForMs(node) ?? -1) >= 0 ? "late" : state;
}

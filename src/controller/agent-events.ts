import { apiVersion, resource } from "../api/names.ts";
import type { Reason } from "../api/reasons.ts";
import type { EventObject } from "../kube/event-correlator.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { agentLateSeconds } from "../kube/lease.ts";
import { agentLeaseSeconds } from "../kube/lease-renewer.ts";
import type { AgentLeases } from "./agent-leases.ts";
import { agentLost, nodeLost } from "./agent-lost.ts";

/** Tells people by Events of agents that do not renew their Leases, and of those that do again: once per transition. */
export interface AgentTeller {
  /**
   * The node's Lease has not run out, as far as is known.
   * @param knownLost the node's state says that its agent is lost: that it is late is no news
   * @param back it was lost until now
   * @returns milliseconds after which to ask again
   */
  lives(node: string, is: { readonly knownLost: boolean; readonly back: boolean }): number;
  /** The node's Lease has run out, which its state says from now on. */
  lost(node: string): void;
}

export interface AgentTellerDeps {
  readonly recorder: EventRecorder;
  readonly leases: Pick<AgentLeases, "lateForMs">;
  /** UID of the Node; undefined: there is none. */
  readonly uidOfNode: (name: string) => string | undefined;
  /** UID of its NodeVolumeState; undefined: there is none. */
  readonly uidOfState: (name: string) => string | undefined;
}

export function createAgentTeller({ recorder, leases, uidOfNode, uidOfState }: AgentTellerDeps): AgentTeller {
  const told = new Set<string>();

  /** The Node, where people look first; its state while there is no Node. */
  function objectOf(name: string): EventObject {
    const uid = uidOfNode(name);
    if (uid !== undefined) return { apiVersion: "v1", kind: resource.nodes.kind, name, uid };
    return { apiVersion, kind: resource.states.kind, name, uid: uidOfState(name) };
  }

  function tell(node: string, type: "Normal" | "Warning", reason: Reason, message: string): void {
    recorder.event({ object: objectOf(node), type, reason, message });
  }

  return {
    lives(node, { knownLost, back }) {
      const lateForMs = leases.lateForMs(node) ?? Number.NEGATIVE_INFINITY;
      if (lateForMs < 0) {
        if (told.delete(node) || back) tell(node, "Normal", "AgentLive", "The node's agent renews its Lease again.");
        return -lateForMs;
      }
      if (!told.has(node) && !knownLost) tell(node, "Warning", "AgentLate", late);
      told.add(node);
      return Number.POSITIVE_INFINITY;
    },
    lost(node) {
      told.add(node);
      const { reason, message } = uidOfNode(node) === undefined ? nodeLost : agentLost;
      tell(node, "Warning", reason, message);
    },
  };
}

const late = `The node's agent has not renewed its Lease for ${agentLateSeconds} s. Its mounts stay. ${agentLeaseSeconds} s after the last renewal their state counts as unknown.`;

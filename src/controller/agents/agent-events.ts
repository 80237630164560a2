import { apiVersion, resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { EventObject } from "../../kube/events/event-correlator.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Clock } from "../../ports.ts";
import type { AgentLeases } from "./agent-leases.ts";
import { agentLate, agentLateEvent, agentLost, nodeLost } from "./agent-lost.ts";

/**
 * Records Events about agents that do not renew their Leases, and about those that do again: one per transition.
 * The next leader may repeat that an agent is late, which is written nowhere, but not that it is lost.
 */
export interface AgentEvents {
  /**
   * The node's Lease has not expired, as far as is known.
   * @param knownLost the node's state already shows AgentLost: a late Lease is no change
   * @param back the agent was lost until now
   * @returns milliseconds until the next check
   */
  lives(node: string, is: { readonly knownLost: boolean; readonly back: boolean }): number;
  /** The node's Lease has run out, which its state says from now on. */
  lost(node: string): void;
  /** There is nothing of the node any more. */
  forget(node: string): void;
}

/** Dependencies of Events about agents that stop renewing their Leases, and about their return. */
export interface AgentEventsDeps {
  readonly recorder: EventRecorder;
  readonly clock: Pick<Clock, "monotonic">;
  readonly leases: Pick<AgentLeases, "lateForMs" | "silence">;
  /** UID of the Node; undefined: there is none. */
  readonly uidOfNode: (name: string) => string | undefined;
  /** UID of its NodeVolumeState; undefined: there is none. */
  readonly uidOfState: (name: string) => string | undefined;
}

export function createAgentEvents({ recorder, clock, leases, uidOfNode, uidOfState }: AgentEventsDeps): AgentEvents {
  /** When an Event said that the agent is late or lost, by the monotonic clock. */
  const told = new Map<string, number>();

  /** The Node, where people look first; its state while there is no Node. */
  function objectOf(name: string): EventObject {
    const uid = uidOfNode(name);
    if (uid !== undefined) return { apiVersion: "v1", kind: resource.nodes.kind, name, uid };
    return { apiVersion, kind: resource.states.kind, name, uid: uidOfState(name) };
  }

  function record(node: string, type: "Normal" | "Warning", reason: Reason, message: string): void {
    recorder.event({ object: objectOf(node), type, reason, message });
  }

  /** While renewals are not seen, its time stands still: that it is not late any more says nothing then. */
  function renewedSince(node: string, since: number): boolean {
    const { renewedForMs } = leases.silence(node);
    return renewedForMs !== undefined && clock.monotonic() - renewedForMs > since;
  }

  return {
    lives(node, { knownLost, back }) {
      const lateForMs = leases.lateForMs(node) ?? Number.NEGATIVE_INFINITY;
      const since = told.get(node);
      if (lateForMs < 0) {
        if (since === undefined ? back : renewedSince(node, since)) {
          told.delete(node);
          record(node, "Normal", "AgentLive", "The node's agent renews its Lease again.");
        }
        return -lateForMs;
      }
      if (since === undefined) {
        if (!knownLost) record(node, "Warning", agentLate.reason, agentLateEvent(node));
        told.set(node, clock.monotonic());
      }
      return Number.POSITIVE_INFINITY;
    },
    forget: (node) => void told.delete(node),
    lost(node) {
      told.set(node, clock.monotonic());
      const { reason, message } = uidOfNode(node) === undefined ? nodeLost : agentLost;
      record(node, "Warning", reason, message);
    },
  };
}

import { findCondition } from "../../api/conditions.ts";
import { isBlocked } from "../../api/reasons.ts";
import { agentLate, agentLost, nodeLost } from "../agents/agent-lost.ts";
import type { AgentState } from "../model/agent-state.ts";
import type { NodeInfo, StateEntry } from "../model/projections.ts";
import type { Judged } from "./standing-of.ts";

/** What the page knows of a node. */
export interface NodeKnown {
  readonly node: NodeInfo | undefined;
  readonly state: StateEntry | undefined;
  readonly life: AgentState;
  /** When its agent last renewed its Lease; undefined: it has none. */
  readonly renewed: string | undefined;
  /** How many intents it has. */
  readonly volumes: number;
}

/** PURE. What is wrong with a node as such; undefined if nothing is, or nothing of ours is there. */
export function nodeTrouble({ node, state, life, renewed, volumes }: NodeKnown): Judged | undefined {
  // A node that has no agent and nothing of ours may be left out of the DaemonSet on purpose.
  if (volumes === 0 && renewed === undefined) return undefined;
  if (life === "lost") {
    const { reason, message } = node === undefined ? nodeLost : agentLost;
    return { standing: "unknown", reason, message, ...(renewed !== undefined && { since: renewed }) };
  }
  const said = findCondition(state?.status.conditions, "Ready");
  if (said?.status === "False" && isBlocked(said.reason))
    return { standing: "blocked", reason: said.reason, message: said.message ?? "", since: said.lastTransitionTime };
  if (node !== undefined && !node.ready && volumes > 0)
    return { standing: "waiting", reason: "NodeNotReady", message: "kubelet does not report the node as ready" };
  if (life === "late") return { standing: "waiting", ...agentLate, ...(renewed !== undefined && { since: renewed }) };
  return undefined;
}

import { findCondition, mergeConditions } from "../api/conditions.ts";
import type { Condition } from "../api/types.gen.ts";
import type { AgentFacts } from "./agent-lost.ts";
import { agentLost, nodeLost } from "./agent-lost.ts";
import type { StateEntry } from "./projections.ts";

/**
 * What the controller says of a node as a whole in the place of an agent that is silent: Ready and Drained Unknown, for
 * what the agent said last may be long untrue. The agent takes both back when it writes again. undefined: nothing
 * changes. Pure.
 * @param saidBefore this was said since the agent fell silent: who has written since knows better
 * @param now milliseconds since the epoch
 */
export function lostStatePatch(
  { metadata, status }: StateEntry,
  { life, nodeExists }: AgentFacts,
  saidBefore: boolean,
  now: number,
): { conditions: Condition[] } | undefined {
  if (life.state !== "lost") return undefined;
  const why = nodeExists ? agentLost : nodeLost;
  const ready = findCondition(status.conditions, "Ready");
  if (saidBefore && ready?.status !== "Unknown") return undefined;
  const wanted = (["Ready", "Drained"] as const).map((type) => ({ type, status: "Unknown" as const, ...why }));
  const says = ({ type, status: is, reason }: (typeof wanted)[number]) => {
    const found = findCondition(status.conditions, type);
    return found?.status === is && found.reason === reason;
  };
  if (wanted.every(says)) return undefined;
  return { conditions: mergeConditions(status.conditions, wanted, metadata.generation ?? 0, now) };
}

/** Whether a state says already that the agent of its node is lost. Pure. */
export function isKnownLost(state: StateEntry | undefined): boolean {
  const reason = findCondition(state?.status.conditions, "Ready")?.reason;
  return reason === agentLost.reason || reason === nodeLost.reason;
}

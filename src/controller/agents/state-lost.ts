import { findCondition, mergeConditions } from "../../api/conditions.ts";
import type { Condition } from "../../api/types.gen.ts";
import type { StateEntry } from "../model/projections.ts";
import { type AgentFacts, agentLost, nodeLost } from "./agent-lost.ts";

/**
 * The status of a NodeVolumeState that the controller writes for an agent that does not renew its Lease: Ready and
 * Drained Unknown, because the agent's last report may be long outdated. The agent resets both with its next write.
 * undefined: no change. Pure.
 * @param saidBefore this was written since the Lease expired: a later write by the agent is newer
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

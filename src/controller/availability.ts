import { findCondition } from "../api/conditions.ts";
import { isBlocked } from "../api/reasons.ts";
import type { Part } from "./part.ts";
import type { Intent } from "./projections.ts";

/** How a set fares on one node, by what the node's agent reports of the intents that carry it. Pure. */
export interface Availability {
  /**
   * - available: every intent of the set is Ready, and the agent speaks of the newest spec.
   * - unavailable: nothing is there, or the agent says that it is not Ready, or no agent is there to say anything.
   * - unknown: the agent has not taken in the newest spec. What is mounted may well be in use.
   */
  readonly state: "available" | "unavailable" | "unknown";
  readonly drifted: boolean;
  /** Why it is not available. */
  readonly trouble?: Trouble;
}

export interface Trouble {
  readonly reason: string;
  readonly message: string;
  /** Somebody must change something, and the agent says so of the newest spec. */
  readonly blocked: boolean;
}

export function availabilityOf(parts: readonly Part[], intents: ReadonlyMap<string, Intent>): Availability {
  const own = parts.flatMap((part) => intents.get(part.intentName) ?? []);
  const troubles = own.flatMap((intent) => troubleOf(intent) ?? []);
  const trouble = troubles.find((t) => t.blocked) ?? troubles[0];
  const unknown = own.some((intent) => !isObserved(intent) && !isLost(intent));
  const unavailable = own.length === 0 || troubles.length > 0;
  return {
    state: unknown ? "unknown" : unavailable ? "unavailable" : "available",
    drifted: own.some(isDrifted),
    ...(trouble && { trouble }),
  };
}

/** Whether the agent has taken in the spec as it is. */
export function isObserved({ metadata, status }: Intent): boolean {
  return status.observedUID === metadata.uid && status.observedGeneration === metadata.generation;
}

function troubleOf(intent: Intent): Trouble | undefined {
  const ready = findCondition(intent.status.conditions, "Ready");
  const observed = isObserved(intent);
  if (observed && ready?.status === "True") return undefined;
  if (!observed && !isLost(intent)) {
    return { reason: "NotObserved", message: "the agent has not taken in the newest spec yet", blocked: false };
  }
  const reason = ready?.reason ?? "NotObserved";
  return { reason, message: ready?.message ?? "", blocked: observed && isBlocked(reason) };
}

function isLost({ status }: Intent): boolean {
  return status.agentState?.state === "Lost";
}

function isDrifted({ status }: Intent): boolean {
  return status.drift !== undefined || findCondition(status.conditions, "Drifted")?.status === "True";
}

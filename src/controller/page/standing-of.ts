import { findCondition } from "../../api/conditions.ts";
import { isBlocked } from "../../api/reasons.ts";
import type { NodeVolumeIntentStatus } from "../../api/types.gen.ts";
import type { Intent } from "../model/projections.ts";
import { isObserved } from "../nodes/availability.ts";
import type { Standing } from "./overview.ts";

/** How a volume stands, and why. */
export interface Judged {
  readonly standing: Standing;
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
}

/** PURE. The one thing to say of a volume on a node, by what its agent and the controller have written. */
export function standingOf(intent: Intent): Judged {
  const { metadata, spec, status } = intent;
  const ready = findCondition(status.conditions, "Ready");
  if (status.agentState?.state === "Lost" || ready?.status === "Unknown") {
    const since = status.agentState?.since ?? ready?.lastTransitionTime;
    return judged("unknown", ready?.reason ?? "AgentLost", ready?.message ?? "its agent does not respond", since);
  }
  if (status.conditions === undefined && status.attach === undefined)
    return judged("waiting", "NotObserved", "the node's agent has not read it yet", metadata.creationTimestamp);
  const why = causeOf(status);
  const observed = isObserved(intent);
  if (observed && ready?.status === "True" && why === undefined && metadata.deletionTimestamp === undefined)
    return judged("ready", ready.reason, "", ready.lastTransitionTime);
  const said = why ?? fromReady(intent, observed);
  if (spec.suspend) return { ...said, standing: "suspended" };
  if (spec.mode === "Observe" && (said.standing === "drifted" || said.reason === "WouldChange"))
    return { ...said, standing: "differs" };
  return said;
}

/** Conditions besides Ready, the worst first. */
function causeOf({ waiting, attach, drift, expansion, conditions }: NodeVolumeIntentStatus): Judged | undefined {
  if (waiting !== undefined && isBlocked(waiting.reason)) return of(waiting.reason, waiting.message, waiting.since);
  if (attach?.reason !== undefined && isBlocked(attach.reason))
    return of(attach.reason, attach.message ?? "", attach.since);
  if (drift !== undefined) return judged("drifted", "Drifted", `${drift.class}: ${drift.message}`, drift.since);
  if (attach?.reason !== undefined) return of(attach.reason, attach.message ?? "", attach.since);
  if (waiting !== undefined) return of(waiting.reason, waiting.message, waiting.since);
  if (expansion !== undefined) return of(expansion.reason, expansion.message);
  const healthy = findCondition(conditions, "VolumeHealthy");
  if (healthy?.status === "False") return of(healthy.reason, healthy.message ?? "", healthy.lastTransitionTime);
  return undefined;
}

function fromReady({ metadata, status }: Intent, observed: boolean): Judged {
  const ready = findCondition(status.conditions, "Ready");
  if (metadata.deletionTimestamp !== undefined)
    return judged("waiting", "Unmounting", "it is being released", metadata.deletionTimestamp);
  if (!observed || ready === undefined || ready.status === "True")
    return judged("waiting", "NotObserved", "the agent has not read the newest spec yet");
  return of(ready.reason, ready.message || ready.reason, ready.lastTransitionTime);
}

function of(reason: string, message: string, since?: string): Judged {
  return judged(isBlocked(reason) ? "blocked" : "waiting", reason, message, since);
}

function judged(standing: Standing, reason: string, message: string, since?: string): Judged {
  return { standing, reason, message, ...(since !== undefined && { since }) };
}

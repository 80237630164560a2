import { apiVersion, resource } from "../../api/names.ts";
import type { EventObject } from "../../kube/events/event-correlator.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Logger } from "../../ports.ts";
import type { PlanListener } from "../model/volume-plan.ts";
import { transitions } from "./transitions.ts";
import { summaryOf } from "./volume-summary.ts";

/** Where transitions of volumes are reported: log, metrics and Events. */
export interface TransitionsTo {
  readonly log: Logger;
  /** Counts a drift by its class. */
  readonly metrics: { drift(driftClass: string): void };
  readonly events: Pick<EventRecorder, "event">;
  /** Of an intent that is gone, the node's own object tells. */
  readonly nodeState: () => EventObject;
}

/** Reports what changed from each plan to the next: in the log, by an Event, and of drift in a metric. */
export function tellTransitions({ log, metrics, events, nodeState }: TransitionsTo): PlanListener {
  let knew = false;
  const planned: PlanListener["planned"] = (plan) => {
    for (const { volume, type, reason, message } of transitions(knew, plan)) {
      log[type === "Warning" ? "warn" : "info"](message, { intent: volume.name, reason });
      const drift = reason === "Drifted" ? summaryOf(volume).drift : undefined;
      if (drift !== undefined) metrics.drift(drift.class);
      const intent: EventObject = {
        apiVersion,
        kind: resource.intents.kind,
        name: volume.name,
        uid: volume.desired?.uid,
      };
      events.event({ object: volume.desired === undefined ? nodeState() : intent, type, reason, message });
    }
    knew = plan.synced;
  };
  return { planned };
}

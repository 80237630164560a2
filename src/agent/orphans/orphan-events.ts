import { Counter, type Registry } from "prom-client";
import { cut } from "../../api/conditions.ts";
import type { Logger } from "../../ports.ts";
import type { ReapOutcome } from "./orphan-cleanup.ts";

/** An Event about a leftover of kubelet. */
export interface ReapEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** PURE. The Event about it, on the node's NodeVolumeState. */
function reapEvent({ record, error }: ReapOutcome): ReapEvent {
  const { path, source, proof, kind } = record;
  const what = `${path}, ${source}`;
  if (error !== undefined) {
    return { type: "Warning", reason: error.reason, message: cut(`orphan ${what} stays: ${error.message}`, 1024) };
  }
  const done = kind === "Staging" ? "had its driver unstage" : "unmounted";
  return { type: "Normal", reason: "OrphanReaped", message: cut(`${done} ${what}: ${proof}`, 1024) };
}

/** Says what became of each orphan that was to be removed: metric, log line and Event. */
export function orphanEvents(deps: {
  readonly registry: Registry;
  readonly log: Logger;
  event(event: ReapEvent): void;
}) {
  const reaped = new Counter({
    name: "nodevolume_agent_orphans_reaped_total",
    help: "Orphans of kubelet that were to be removed, by kind and outcome: success, or the class of the failure.",
    labelNames: ["kind", "status"],
    registers: [deps.registry],
  });
  return (outcome: ReapOutcome) => {
    reaped.inc({ kind: outcome.record.kind, status: outcome.error?.errorClass ?? "success" });
    const event = reapEvent(outcome);
    if (outcome.error === undefined) deps.log.info(event.message, { reason: event.reason });
    deps.event(event);
  };
}

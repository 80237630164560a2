import type { VolumePlan } from "../model/volume-plan.ts";

/**
 * PURE. Why mounts are there that no intent names; undefined if there are none, or the record of them is about to be
 * dropped. Says nothing before the intents were read: then each record is without one.
 */
export function orphanReason({ phase, record, pending }: VolumePlan): "Retained" | "UnexplainedRemoval" | undefined {
  if (phase !== "unexplained" || pending.length > 0) return undefined;
  return record?.retained === true ? "Retained" : "UnexplainedRemoval";
}

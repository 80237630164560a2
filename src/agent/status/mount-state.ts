import type { TargetState } from "../../api/status-values.ts";
import { type ActualTarget, isMounted } from "../model/actual-volume.ts";

/** PURE. A target in one word. @param hindered whether something stands in its way */
export function stateOfTarget(target: ActualTarget, hindered: boolean): TargetState {
  if (isMounted(target)) return "Mounted";
  if (hindered) return target.foreign === undefined ? "Blocked" : "Foreign";
  return target.truth === "uncertain" ? "Uncertain" : "Absent";
}

import { hasDots } from "../../api/values/path.ts";
import { isBeneath } from "../../host/mount-table/mount-table.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { DesiredMount } from "../model/desired.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import { isOfKubelet, podOfPath } from "../model/pod-path.ts";

/** PURE. Why nothing is ever mounted on a path, whatever else is there; undefined if it may be (safety rule 15). */
export function pathProblem(
  { path, pod }: Pick<DesiredMount, "path" | "pod">,
  { allowedPrefixes, kubeletDir }: PlanSettings,
): Problem | undefined {
  if (pod !== undefined && podOfPath(kubeletDir, path) !== undefined) return undefined;
  if (isOfKubelet(kubeletDir, path)) {
    return { reason: "PathNotAllowed", message: `${path} is kubelet's: name a path that is no pod's` };
  }
  if (hasDots(path)) return { reason: "DotDotInPath", message: `${path} has a segment "." or ".."` };
  if (allowedPrefixes.some((prefix) => path !== prefix && isBeneath(path, prefix))) return undefined;
  const message = `${path} is not beneath one of the allowed prefixes: ${allowedPrefixes.join(", ")}`;
  return { reason: "PathNotAllowed", message };
}

import { isBeneath } from "../../host/mount-table/mount-table.ts";
import type { PlanSettings } from "../model/plan-input.ts";

/**
 * PURE. Whether a path of the node is in the agent's own state directory. An allowed prefix in there, as that of
 * config/default, is not: what is mounted beneath it is for everybody.
 */
export function isStatePath(
  path: string,
  { stateDir, allowedPrefixes }: Pick<PlanSettings, "stateDir" | "allowedPrefixes">,
): boolean {
  const isPublic = (prefix: string) => prefix !== stateDir && isBeneath(prefix, stateDir) && isBeneath(path, prefix);
  return isBeneath(path, stateDir) && !allowedPrefixes.some(isPublic);
}

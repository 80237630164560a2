import type { GrantedCSIVolume } from "../../api/types.gen.ts";
import type { CSIDriver } from "./objects.ts";

/**
 * PURE. What a grant says of the driver, as its CSIDriver has it now: the agent does not read that object. A grant
 * never changes, so what is changed on the CSIDriver later counts from the next grant on (decision 0027). Without the
 * object nothing is asked for.
 */
export function grantedOfDriver(
  driver: CSIDriver | undefined,
): Pick<GrantedCSIVolume, "requiresRepublish" | "podInfoOnMount" | "tokenAudiences" | "serviceAccountTokenInSecrets"> {
  const tokenAudiences = driver?.tokenAudiences ?? [];
  return {
    ...(driver?.requiresRepublish && { requiresRepublish: true }),
    ...(driver?.podInfoOnMount && { podInfoOnMount: true }),
    ...(tokenAudiences.length > 0 && { tokenAudiences: [...tokenAudiences] }),
    ...(driver?.tokensInSecrets && { serviceAccountTokenInSecrets: true }),
  };
}

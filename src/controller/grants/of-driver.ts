import type { GrantedCSIVolume } from "../../api/types.gen.ts";
import type { CSIDriver } from "../model/storage-objects.ts";

/**
 * PURE. The fields of a grant that come from the driver's CSIDriver object, which agents do not read. A grant never
 * changes, so that later changes of the CSIDriver apply to the next grant (decision 0027). Without the object the
 * fields are left out.
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

import { hasTokens } from "../content/pod-tokens.ts";
import { identityOfNoPod, waitingForToken } from "../content/token-problems.ts";
import { stillPublished } from "../executor/csi/publish.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { TargetRecord } from "../model/volume-record.ts";

/**
 * PURE. The problem of a target whose driver acts as the pod (tokenRequests): the target belongs to no pod, or the
 * driver would have to be called without the pod's tokens. Undefined if there is none. A mount that is published
 * already is bound again without tokens.
 */
export function identityProblem(
  { path, pod, attributes }: DesiredMount,
  { layout }: Pick<DesiredVolume, "layout">,
  record: TargetRecord | undefined,
  { table, ...input }: Pick<PlanInput, "table" | "tokens" | "now">,
): Problem | undefined {
  const { csi } = layout;
  if (csi?.tokenAudiences === undefined) return undefined;
  if (pod === undefined) return identityOfNoPod(csi);
  if (hasTokens(path, input)) return undefined;
  const same = record?.published?.readOnly === attributes.readOnly;
  const there = same && table !== undefined && stillPublished(record.published, table) !== undefined;
  return there ? undefined : waitingForToken(csi, path);
}

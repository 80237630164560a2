import type { DesiredMount, DesiredVolume } from "../desired-volume.ts";
import type { PlanInput } from "../plan-input.ts";
import { identityOfNoPod, waitingForToken } from "../pods/token-problems.ts";
import type { TargetRecord } from "../record.ts";
import type { Problem } from "../view.ts";
import { hasTokens } from "./identity.ts";
import { stillPublished } from "./publish.ts";

/**
 * PURE. Why a target may not be set up or mended as things are, where its driver acts as the pod (tokenRequests): it is
 * no pod's, or the driver would have to be called without the pod's tokens. Undefined if it may. What is published
 * already is bound again without any.
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

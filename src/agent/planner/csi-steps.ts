import { stillPublished } from "../actual/published-mount.ts";
import { hasTokens } from "../content/pod-tokens.ts";
import { identityOfNoPod, waitingForToken } from "../content/token-problems.ts";
import type { ActualVolume, Problem } from "../model/actual-volume.ts";
import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import type { Action } from "../model/operation.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { TargetRecord } from "../model/volume-record.ts";
import type { StepContext } from "./step-context.ts";

/**
 * PURE. Brings what is on the node to the size that the volume has at its backend. Nothing that is there goes for it.
 */
export function expandActions(desired: DesiredVolume, { actualState, record }: StepContext): Action[] {
  if (desired.layout.csi === undefined) {
    const grows = wantsMore(desired, record?.stage?.capacityBytes) && actualState.stage.truth === "mounted";
    return grows ? [{ kind: "expand" }] : [];
  }
  if (!wantsMore(desired, record?.stage?.csi?.capacityBytes) || actualState.stage.truth !== "mounted") return [];
  const targets = actualState.targets.filter((target) => target.desired !== undefined && target.published === "there");
  if (!targets.some((target) => target.record?.published?.readOnly === false)) return [];
  const refused = record?.stage?.csi?.refused;
  return refused?.capacityBytes === desired.capacityBytes ? [] : [{ kind: "expand" }];
}

/** PURE. Whether the volume has grown at its backend, and here not yet. */
export function wantsMore({ capacityBytes, layout }: DesiredVolume, reached: string | undefined): boolean {
  if (capacityBytes === undefined || layout.readOnly || (layout.csi === undefined && layout.grows !== true))
    return false;
  return reached === undefined || BigInt(capacityBytes) > BigInt(reached);
}

/**
 * PURE. Whether all that may have been done for a volume has to be written down first, because its record may be lost.
 */
export function mustRecover(desired: DesiredVolume, { input, record }: Pick<StepContext, "input" | "record">): boolean {
  return desired.layout.csi !== undefined && desired.granted && input.mayHaveLost && record === undefined;
}

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

/**
 * PURE. Why a target of a ReadWriteOncePod volume may not be set up: another has it, or is to have it. One at a time,
 * also while the other is uncertain or on its way out; a driver may not look (safety rule 16; kubelet:
 * operation_generator.go, checkForSingleMount). Undefined if it may.
 */
export function soleTargetProblem(
  path: MountPath,
  { layout, mounts }: Pick<DesiredVolume, "layout" | "mounts">,
  { targets }: Pick<ActualVolume, "targets">,
): Problem | undefined {
  if (layout.csi?.accessMode !== "ReadWriteOncePod") return undefined;
  const known = targets.filter(({ truth, record }) => truth !== "absent" || record !== undefined);
  const having =
    known.find(({ desired }) => desired === undefined) ?? known.find(({ truth }) => truth !== "absent") ?? known[0];
  const user = having?.path ?? mounts[0]?.path;
  if (user === undefined || user === path) return undefined;
  const message = `the volume is ReadWriteOncePod, and ${user} has it: one mount may`;
  return { reason: "AccessModeMismatch", message };
}

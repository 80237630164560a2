import type { PodIdentity } from "../../csi/client/pod-tokens.ts";
import { VolumeError } from "../../errors.ts";
import type { CSIVolume } from "../../plugins/api/volume-plugin.ts";
import type { DesiredVolume } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { IdentitySource } from "../model/pod-identity.ts";
import type { TargetRecord } from "../model/volume-record.ts";
import { identityOfNoPod, waitingForToken } from "./token-problems.ts";

/** PURE. Whether the driver may be called for a target as its pod. */
export function hasTokens(path: MountPath, { tokens, now }: Pick<PlanInput, "tokens" | "now">): boolean {
  const state = tokens?.get(path);
  return state !== undefined && now < state.until;
}

/** PURE. Which tokens there are for the targets of a volume, in one text to compare; undefined if none are needed. */
export function tokensOf(
  desired: Pick<DesiredVolume, "layout" | "mounts"> | undefined,
  { tokens }: Pick<PlanInput, "tokens">,
): string | undefined {
  if (tokens === undefined || desired?.layout.csi?.tokenAudiences === undefined) return undefined;
  const states = desired.mounts.map(({ path }) => tokens.get(path));
  return states.map((state) => (state === undefined ? "" : `${state.until} ${state.fresh}`)).join("\n");
}

/**
 * The pod identity for a call; undefined if the driver requires none.
 * @throws VolumeError if there are no tokens: nothing has been done yet
 */
export function identityFor(
  { csi }: { readonly csi: { readonly identities: IdentitySource } },
  volume: CSIVolume,
  { path, pod }: Pick<TargetRecord, "path" | "pod">,
): PodIdentity | undefined {
  if (volume.tokenAudiences === undefined) return undefined;
  const identity = pod && csi.identities.of(path, volume.tokenAudiences);
  if (identity !== undefined) return identity;
  const { reason, message, on } = pod === undefined ? identityOfNoPod(volume) : waitingForToken(volume, path);
  throw new VolumeError(reason, "transient", message, on && { on });
}

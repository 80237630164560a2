import type { ActualVolume, Problem } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";

/**
 * PURE. Why a target of a ReadWriteOncePod volume may not be set up: another has it, or is to have it. One at a time,
 * also while the other is uncertain or on its way out; a driver may not look (safety rule 16; kubelet:
 * operation_generator.go, checkForSingleMount). Undefined if it may.
 */
export function soleTargetProblem(
  path: string,
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

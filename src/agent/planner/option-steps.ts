import { canonicalOptions, optionName } from "../../api/values/mount-options.ts";
import type { DesiredVolume } from "../model/desired.ts";
import { type Failure, failureOf } from "../model/failure.ts";
import type { StageRecord } from "../model/volume-record.ts";
import { mustStageForOwnership } from "../ownership/fsgroup-policy.ts";
import type { StepContext } from "./step-context.ts";

/** PURE. Whether other options are asked for than what is staged was given. */
export function optionsDiffer(desired: DesiredVolume, stage: StageRecord | undefined): boolean {
  if (stage?.kind !== "filesystem" && stage?.kind !== "swap") return false;
  return canonicalOptions(stage.options).join(",") !== canonicalOptions(desired.layout.options).join(",");
}

/**
 * PURE. The new options need a new mount: the file system takes none in place, the kernel has refused them, or one is
 * gone, which cannot be said to a mount that exists.
 */
export function mustReplaceForOptions(desired: DesiredVolume, { input, record }: StepContext): boolean {
  if (record?.stage?.csi !== undefined) {
    return isOtherForDriver(desired, record.stage) || mustStageForOwnership(desired, record, input.settings);
  }
  if (record?.stage?.kind === "swap") return optionsDiffer(desired, record.stage) || hasGrown(desired, record.stage);
  if (!optionsDiffer(desired, record?.stage)) return false;
  if (desired.layout.fixedOptions === true) return true;
  const kept = new Set(desired.layout.options.map(optionName));
  if (record?.stage?.options.some((option) => !kept.has(optionName(option)))) return true;
  const failure: Failure | undefined = failureOf(input.failures, { volume: desired.name });
  if (failure?.generation !== desired.generation) return false;
  const refused = failure.kind === "reconfigure" && failure.reason === "OptionsRefused";
  return refused || failure.kind === "unstage"; // and goes on once it has begun
}

/** Another volume, or other options, which a driver takes only when it stages and publishes anew. */
function isOtherForDriver(desired: DesiredVolume, stage: StageRecord): boolean {
  if (desired.layout.csi === undefined) return false;
  return !isSameForDriver(desired, stage) || stage.options.join(",") !== desired.layout.options.join(",");
}

/** PURE. Whether it is the volume that a driver has staged; true of what no driver has. */
export function isSameForDriver({ layout }: DesiredVolume, stage: StageRecord | undefined): boolean {
  const [wanted, csi] = [layout.csi, stage?.csi];
  if (wanted === undefined || csi === undefined) return true;
  return wanted.driver === csi.driver && wanted.volumeHandle === csi.volumeHandle && wanted.block === csi.block;
}

/** Whether a larger size is asked for than swap was turned on with: it cannot grow while it is on. */
function hasGrown({ capacityBytes }: DesiredVolume, stage: StageRecord): boolean {
  return capacityBytes !== undefined && BigInt(capacityBytes) > BigInt(stage.capacityBytes ?? 0);
}

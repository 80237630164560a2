import { hash } from "node:crypto";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import type { MountPath } from "../../model/identities.ts";
import type { PlanSettings } from "../../model/plan-input.ts";

/**
 * Where a driver stages and publishes a volume, whichever PersistentVolume or intent names it (safety rule 12): a
 * record of itself, as nobody else mounts there (safety rule 24). Names from the API never become parts of a path
 * themselves.
 */
export function volumeDirectory({ csiDir }: PlanSettings, volume: Pick<CSIVolume, "driver" | "volumeHandle">): string {
  return `${csiDir}/${short(`${volume.driver}^${volume.volumeHandle}`)}`;
}

/** The staging_target_path of a volume, in its directory beneath `csiDir`. */
export function stagingPathIn(directory: string): string {
  return `${directory}/staging`;
}

/** Directory of the publish paths. */
export function mountsIn(directory: string): string {
  return `${directory}/mounts`;
}

/** Where the driver publishes the volume for one target: CSI wants a path of its own for each. */
export function publishPathIn(directory: string, target: MountPath): string {
  return `${mountsIn(directory)}/${short(target)}`;
}

function short(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}

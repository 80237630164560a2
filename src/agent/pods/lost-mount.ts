import { isBeneath, type MountIdentity, type MountTable, sameFilesystem } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import { publishPathIn } from "../executor/csi/paths.ts";
import type { MountPath } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { VolumeRecord } from "../model/volume-record.ts";

/** Evidence about a mount on a pod's target whose record was lost. */
export interface LostMountContext {
  readonly table: MountTable;
  readonly settings: Pick<PlanSettings, "stateDir" | "csiDir">;
  readonly records: Iterable<VolumeRecord>;
}

/**
 * PURE. A pod's mount without record and intent, if it is ours beyond doubt: the only mount on a path that only a
 * driver for pods mounts on, showing a volume of ours or a part of one, by device and root (safety rule 24).
 * @param path a target of kubelet's that it has unpublished
 */
export function lostMount(path: MountPath, context: LostMountContext): MountEntry | undefined {
  const mount = context.table.at(path);
  if (mount === undefined || context.table.layers(path).length > 1) return undefined;
  const shows = (volume: MountIdentity) => sameFilesystem(mount, volume) && isBeneath(mount.root, volume.root);
  return ownVolumes(path, context).some(shows) ? mount : undefined;
}

/** What is staged where only we and drivers for us stage, our directories, and paths of the host on record. */
function ownVolumes(path: MountPath, { table, settings, records }: LostMountContext): MountIdentity[] {
  const { stateDir, csiDir } = settings;
  const published = publishPathIn("", path); // named after the target: it is for this one
  const staged = table
    .beneath(`${stateDir}/staging`)
    .concat(table.beneath(csiDir).filter(({ point }) => point.endsWith(published)));
  const data = table.identityOf(`${stateDir}/data`);
  const paths = [...records].flatMap(({ stage }) => (stage?.kind === "path" ? (stage.identity ?? []) : []));
  return [...staged, ...paths, ...(data === undefined || data.root === "/" ? [] : [data])];
}

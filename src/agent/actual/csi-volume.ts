import { type MountTable, sameFilesystem } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { ActualStateInput } from "../model/actual-input.ts";
import type { ActualStage, MountedTarget } from "../model/actual-volume.ts";
import type { StageRecord, TargetRecord } from "../model/volume-record.ts";
import { coveredMount, isReadOnly, stillPublished } from "./published-mount.ts";

/**
 * PURE. What a driver staged, by table and record. It is never absent while there is a record of it: only the driver's
 * answer to NodeUnstageVolume ends it. A driver that mounted nothing on the staging path is believed that it staged.
 */
export function observeDriverStage(
  stage: StageRecord,
  table: MountTable | undefined,
  of: Pick<ActualStateInput, "record" | "desired">,
): ActualStage {
  if (table === undefined) return { record: stage, truth: "uncertain" };
  const flipped = of.desired?.layout.readOnly === false && hasFlipped(stage, of.record?.targets ?? [], table);
  const base = { record: stage, ...(flipped && { drift: "ReadOnlyFlip" as const }) };
  const layers = table.layers(stage.path);
  const mount = table.at(stage.path);
  const truth = stage.ready ? "mounted" : "uncertain";
  if (layers.length === 0) {
    if (stage.identity === undefined) return { ...base, truth };
    return { ...base, truth: "uncertain", ...(stage.ready && { drift: "Missing" as const }) };
  }
  if (isCoveredAgain(stage, layers, of, table)) return { ...base, truth, mount: layers[0] as MountEntry };
  if (layers.length > 1 || mount === undefined) return { ...base, truth: "uncertain", drift: "Stacked" };
  if (stage.ready && (stage.identity === undefined || !sameFilesystem(stage.identity, mount))) {
    return { ...base, truth: "uncertain", drift: "SourceDiffers" };
  }
  return { ...base, truth, mount };
}

/**
 * Whether what covers the staging path has come with what covers a publish path: they are peers, so that what a driver
 * mounts on the one, when it is called again, the kernel mounts on the other.
 */
function isCoveredAgain(
  { identity }: StageRecord,
  [lowest, ...others]: readonly MountEntry[],
  { record, desired }: Pick<ActualStateInput, "record" | "desired">,
  table: MountTable,
): boolean {
  if (desired?.layout.csi?.requiresRepublish !== true || others.length === 0) return false;
  if (lowest === undefined || identity === undefined || !sameFilesystem(identity, lowest)) return false;
  const published = (record?.targets ?? []).flatMap((target) => target.published ?? []);
  return published.some((one) => coveredMount(one, table) !== undefined);
}

/** Whether the kernel itself made a file system read-only that the driver had mounted writable: after an error. */
function hasFlipped({ path, csi }: StageRecord, targets: readonly TargetRecord[], table: MountTable): boolean {
  const paths = [path, ...targets.flatMap(({ published }) => published?.path ?? [])];
  return paths.some((point) => {
    const mount = table.at(point);
    if (mount === undefined || !isReadOnly(mount)) return false;
    return csi?.shown.some(({ identity, writable }) => writable === true && sameFilesystem(identity, mount)) === true;
  });
}

/**
 * PURE. Whether a target's bind still comes from what the driver has published for it.
 * @param again whether the driver is called again for it, and so may have mounted over it
 */
export function observePublished(
  record: TargetRecord | undefined,
  readOnly: boolean | undefined,
  table: MountTable,
  again: boolean,
): Pick<MountedTarget, "published"> & { readonly outdated: boolean; readonly drift?: "SourceDiffers" } {
  const { published } = record ?? {};
  if (published === undefined) return { outdated: true };
  const outdated = readOnly !== undefined && readOnly !== published.readOnly;
  if (stillPublished(published, table) !== undefined) return { published: "there", outdated };
  if (again && coveredMount(published, table) !== undefined) return { published: "covered", outdated };
  const gone = table.layers(published.path).length === 0 ? "gone" : "differs";
  return { published: gone, outdated: true, ...(published.identity && { drift: "SourceDiffers" as const }) };
}

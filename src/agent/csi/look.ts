import { type MountTable, sameFilesystem } from "../../host/mount-table.ts";
import type { StageRecord, TargetRecord } from "../record.ts";
import type { StageView, TargetView } from "../view.ts";
import { stillPublished } from "./publish.ts";

/**
 * PURE. What a driver staged, by table and record. It is never absent while there is a record of it: only the driver's answer to
 * NodeUnstageVolume ends it. A driver that mounted nothing on the staging path is believed that it staged.
 */
export function lookAtStageOfDriver(stage: StageRecord, table: MountTable | undefined): StageView {
  const base = { record: stage };
  if (table === undefined) return { ...base, truth: "uncertain" };
  const layers = table.layers(stage.path);
  const mount = table.at(stage.path);
  const truth = stage.ready ? "mounted" : "uncertain";
  if (layers.length === 0) {
    if (stage.identity === undefined) return { ...base, truth };
    return { ...base, truth: "uncertain", ...(stage.ready && { drift: "Missing" as const }) };
  }
  if (layers.length > 1 || mount === undefined) return { ...base, truth: "uncertain", drift: "Stacked" };
  if (stage.ready && (stage.identity === undefined || !sameFilesystem(stage.identity, mount))) {
    return { ...base, truth: "uncertain", drift: "SourceDiffers" };
  }
  return { ...base, truth, mount };
}

/** PURE. Whether a target's bind still comes from what the driver has published for it. */
export function lookAtPublished(
  record: TargetRecord | undefined,
  readOnly: boolean | undefined,
  table: MountTable,
): Pick<TargetView, "published"> & { readonly outdated: boolean; readonly drift?: "SourceDiffers" } {
  const { published } = record ?? {};
  if (published === undefined) return { outdated: true };
  if (stillPublished(published, table) !== undefined) {
    return { published: "there", outdated: readOnly !== undefined && readOnly !== published.readOnly };
  }
  const gone = table.layers(published.path).length === 0 ? "gone" : "differs";
  return { published: gone, outdated: true, ...(published.identity && { drift: "SourceDiffers" as const }) };
}

import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import type { StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { stageDevice } from "../local/local-device.ts";
import { useLun } from "../scsi/use-lun.ts";
import { attach, pathsNow } from "./attach.ts";
import { chapOf } from "./credentials.ts";
import { interfaceOf, lunText, portalsOf, tearDownDataOf } from "./lun.ts";

/** What there is to undo is on record before anything is done, and what there was already is taken as it is. */
export async function stageLun(spec: VolumeSpec, source: ISCSIVolumeSource, context: StageContext): Promise<Staged> {
  const { stagingMount, stagingTarget, found: before } = context;
  const by = interfaceOf(source);
  const { iqn, lun, readOnly = false, fsType } = source;
  const own = { iqn, lun, interface: by.name, portals: portalsOf(source) };
  const isBlock = spec.volumeMode === "Block";
  const known = before?.deviceNumber === undefined ? {} : { found: before, deviceNumber: before.deviceNumber };
  const kind = isBlock ? "device" : "filesystem";
  await context.record({ kind, path: stagingTarget.path, ...known, undo: tearDownDataOf(own) });
  const how = { ...spec, ...(fsType !== undefined && { fsType }) };
  if (stagingMount !== undefined && before?.deviceNumber !== undefined) {
    return stageDevice(how, { ...before, deviceNumber: before.deviceNumber }, context, { readOnly });
  }
  const chap = chapOf(source, context.content?.[0]);
  const paths = await attach({ lun: own, source, by, chap }, context);
  return useLun(how, { paths, name: lunText(own), readOnly, look: () => pathsNow(own, context) }, context);
}

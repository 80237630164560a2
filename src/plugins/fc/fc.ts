import type { FCVolumeSource } from "../../api/types.gen.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import type { Layout, StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { stageDevice } from "../local/local-device.ts";
import { growLun } from "../scsi/grow.ts";
import { takeOff } from "../scsi/take-off.ts";
import { useLun } from "../scsi/use-lun.ts";
import { attach } from "./attach.ts";
import { type FCLun, lunOf, lunText, pathsOf, tearDownDataOf } from "./lun.ts";

/**
 * A LUN of a Fibre Channel target: looked for where it may be, mounted by dm-multipath's map of its paths where there
 * is one, formatted only if fsType says with what and it looks empty (law L11), and taken off the node when nobody has
 * it any more. (kubelet: pkg/volume/fc; decision 0061)
 */
export const fc: ExpandingPlugin = {
  type: "fc",

  layout(spec): Layout {
    const isBlock = spec.volumeMode === "Block";
    const readOnly = sourceOf(spec).readOnly === true;
    const how = isBlock ? {} : ({ ...(!readOnly && { group: "walk" }), grows: true } as const);
    return { options: spec.mountOptions, readOnly, devices: isBlock, ...how };
  },

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const { fsType, readOnly = false, targetWWNs, lun, wwids } = sourceOf(spec);
    const { stagingMount, stagingTarget, found: before } = context;
    const kind = spec.volumeMode === "Block" ? "device" : "filesystem";
    const how = { ...spec, ...(fsType !== undefined && { fsType }) };
    if (stagingMount !== undefined && before?.deviceNumber !== undefined) {
      return stageDevice(how, { ...before, deviceNumber: before.deviceNumber }, context, { readOnly });
    }
    const source = {
      ...(targetWWNs !== undefined && { targetWWNs }),
      ...(lun !== undefined && { lun }),
      ...(wwids !== undefined && { wwids }),
    };
    const wanted: FCLun = { ...(context.undo && lunOf(context.undo)), source };
    // On record before the first scan: what that finds is taken off the node when the volume is released.
    await context.record({ kind, path: stagingTarget.path, ...onRecord(before), undo: tearDownDataOf(wanted) });
    const paths = await attach(wanted, context);
    const [{ lasting } = {}] = paths;
    const known = { source, ...(lasting !== undefined && { lasting }) };
    await context.record({ kind, path: stagingTarget.path, ...onRecord(before), undo: tearDownDataOf(known) });
    const look = async () => pathsOf(known, await context.scsi.look(context.hostRoot));
    return useLun(how, { paths, name: lunText(source), readOnly, look }, context);
  },

  detach(undo, context): Promise<void> {
    const lun = lunOf(undo);
    return takeOff((tree) => pathsOf(lun, tree), context);
  },

  expand(_spec, { to }, undo, context): Promise<void> {
    const lun = lunOf(undo);
    return growLun({ name: lunText(lun.source), to, pathsIn: (tree) => pathsOf(lun, tree) }, context);
  },
};

function onRecord(before: StageContext["found"]): Pick<Staged, "found" | "deviceNumber"> {
  if (before?.deviceNumber === undefined) return {};
  return { found: before, deviceNumber: before.deviceNumber };
}

function sourceOf(spec: VolumeSpec): FCVolumeSource {
  if (spec.source.fc === undefined) throw new Error("not an fc volume");
  return spec.source.fc;
}

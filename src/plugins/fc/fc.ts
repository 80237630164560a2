import type { ExpandingPlugin } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { asDevice, stageDevice } from "../local/local-device.ts";
import { detachLun } from "../scsi/detach-lun.ts";
import { growLun } from "../scsi/grow.ts";
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

  layout(spec) {
    const isBlock = spec.volumeMode === "Block";
    const readOnly = sourceOf(spec, "fc").readOnly === true;
    const how = isBlock ? {} : ({ ...(!readOnly && { group: "walk" }), grows: true } as const);
    return { options: spec.mountOptions, readOnly, devices: isBlock, ...how };
  },

  async stage(spec, context) {
    const source = sourceOf(spec, "fc");
    const { fsType, readOnly = false } = source;
    const { stagingMount, stagingTarget } = context;
    const before = asDevice(context.found);
    const kind = spec.volumeMode === "Block" ? "device" : "filesystem";
    const how = { ...spec, ...(fsType !== undefined && { fsType }) };
    if (stagingMount !== undefined && before !== undefined) return stageDevice(how, before, context, { readOnly });
    const place = {
      kind,
      path: stagingTarget.path,
      ...(before && { found: before, deviceNumber: before.deviceNumber }),
    } as const;
    const wanted: FCLun = { ...(context.undo && lunOf(context.undo)), source };
    // On record before the first scan: what that finds is taken off the node when the volume is released.
    await context.record({ ...place, undo: tearDownDataOf(wanted) });
    const paths = await attach(wanted, context);
    const [{ lasting } = {}] = paths;
    const known = { source, ...(lasting !== undefined && { lasting }) };
    await context.record({ ...place, undo: tearDownDataOf(known) });
    const look = async () => pathsOf(known, await context.scsi.look(context.hostRoot));
    return useLun(how, { paths, name: lunText(source), readOnly, look }, context);
  },

  detach(undo, context) {
    const lun = lunOf(undo);
    return detachLun((tree) => pathsOf(lun, tree), context);
  },

  expand(_spec, { to }, undo, context) {
    const lun = lunOf(undo);
    return growLun({ name: lunText(lun.source), to, pathsIn: (tree) => pathsOf(lun, tree) }, context);
  },
};

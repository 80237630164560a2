import type { ScsiTree } from "../../host/ports/scsi.ts";
import { secretContent } from "../api/content.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { asDevice, stageDevice } from "../local/local-device.ts";
import { growLun } from "../scsi/grow.ts";
import { useLun } from "../scsi/use-lun.ts";
import { attach, pathsNow } from "./attach.ts";
import { chapOf } from "./credentials.ts";
import { interfaceOf, lunOf, lunText, pathsOf, portalsOf, tearDownDataOf } from "./lun.ts";
import { detach } from "./release.ts";

/**
 * A LUN of an iSCSI target, by the node's own open-iscsi: iscsid has the session, so it outlives the agent. (kubelet:
 * pkg/volume/iscsi; decision 0052)
 */
export const iscsi: ExpandingPlugin = {
  type: "iscsi",

  layout(spec) {
    const { readOnly = false, secretRef } = sourceOf(spec, "iscsi");
    const isBlock = spec.volumeMode === "Block";
    return {
      options: spec.mountOptions,
      readOnly,
      devices: isBlock,
      grows: !isBlock,
      ...(!isBlock && !readOnly && { group: "walk" }),
      ...(secretRef && { content: [secretContent(secretRef)], credentials: true }),
    };
  },

  /** What there is to undo is on record before anything is done, and what there was already is taken as it is. */
  async stage(spec, context) {
    const source = sourceOf(spec, "iscsi");
    const { iqn, lun, readOnly = false, fsType } = source;
    const { stagingMount, stagingTarget } = context;
    const before = asDevice(context.found);
    const by = interfaceOf(source);
    const own = { iqn, lun, interface: by.name, portals: portalsOf(source) };
    const known = before && { found: before, deviceNumber: before.deviceNumber };
    const kind = spec.volumeMode === "Block" ? "device" : "filesystem";
    await context.record({ kind, path: stagingTarget.path, ...known, undo: tearDownDataOf(own) });
    const how = { ...spec, ...(fsType !== undefined && { fsType }) };
    if (stagingMount !== undefined && before !== undefined) return stageDevice(how, before, context, { readOnly });
    const chap = chapOf(source, context.content?.[0]);
    const paths = await attach({ lun: own, source, by, chap }, context);
    return useLun(how, { paths, name: lunText(own), readOnly, look: () => pathsNow(own, context) }, context);
  },

  detach,

  /** On each path of the LUN. */
  async expand(_spec, { to }, undo, context) {
    const lun = lunOf(undo);
    const sessions = await context.iscsi.sessions();
    const pathsIn = ({ disks }: ScsiTree) => pathsOf(lun, sessions, disks).map(({ disk }) => disk);
    await growLun({ name: lunText(lun), to, pathsIn }, context);
  },
};

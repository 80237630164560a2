import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import type { ObjectRef } from "../api/content.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import type { Layout, VolumeSpec } from "../api/volume-plugin.ts";
import { expandLun } from "./expand.ts";
import { detach } from "./release.ts";
import { stageLun } from "./stage.ts";

/**
 * A LUN of an iSCSI target, by the node's own open-iscsi: iscsid has the session, so it outlives the agent. (kubelet:
 * pkg/volume/iscsi; decision 0052)
 */
export const iscsi: ExpandingPlugin = {
  type: "iscsi",

  layout(spec): Layout {
    const { readOnly = false, secretRef } = sourceOf(spec);
    const isBlock = spec.volumeMode === "Block";
    return {
      options: spec.mountOptions,
      readOnly,
      devices: isBlock,
      grows: !isBlock,
      ...(!isBlock && !readOnly && { group: "walk" }),
      ...(secretRef && { content: [refOf(secretRef)], credentials: true }),
    };
  },

  stage: (spec, context) => stageLun(spec, sourceOf(spec), context),
  detach,
  expand: (_spec, { to }, undo, context) => expandLun(undo, to, context),
};

/** Member by member, in the order of contentKey: the API server orders those of secretRef as it likes. */
function refOf({ namespace, name }: NonNullable<ISCSIVolumeSource["secretRef"]>): ObjectRef {
  return { kind: "Secret", namespace, name, optional: false };
}

function sourceOf(spec: VolumeSpec): ISCSIVolumeSource {
  if (spec.source.iscsi === undefined) throw new Error("not an iscsi volume");
  return spec.source.iscsi;
}

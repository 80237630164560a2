import type { FlexVolumeSource } from "../../api/types.gen.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import type { VolumeSpec } from "../api/volume-plugin.ts";
import { expandVolume } from "./expand.ts";
import { detach, unmountStaged } from "./release.ts";
import { FlexStaging } from "./stage.ts";

/**
 * A volume that a vendor's driver sets up: a program on the node that is run with a command and JSON, and answers in
 * JSON. The mount table says whether it did. (kubelet: pkg/volume/flexvolume; decision 0043)
 */
export const flexVolume: ExpandingPlugin = {
  type: "flexVolume",
  layout: (spec) => ({ options: [], readOnly: sourceOf(spec).readOnly === true, devices: false, grows: true }),
  stage: (spec, context) => new FlexStaging(spec, sourceOf(spec), context).stage(),
  unmountStaged,
  detach,
  expand: (spec, size, undo, context) => expandVolume({ key: spec.key, source: sourceOf(spec), size, undo }, context),
};

function sourceOf(spec: VolumeSpec): FlexVolumeSource {
  if (spec.source.flexVolume === undefined) throw new Error("not a flexVolume");
  return spec.source.flexVolume;
}

import type { ExpandingPlugin } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { expandVolume } from "./expand.ts";
import { detach, unmountStaged } from "./release.ts";
import { FlexStaging } from "./stage.ts";

/**
 * A volume that a vendor's driver sets up: a program on the node that is run with a command and JSON, and answers in
 * JSON. The mount table says whether it did. (kubelet: pkg/volume/flexvolume; decision 0043)
 */
export const flexVolume: ExpandingPlugin = {
  type: "flexVolume",
  layout: (spec) => ({
    options: [],
    readOnly: sourceOf(spec, "flexVolume").readOnly === true,
    devices: false,
    grows: true,
  }),
  stage: (spec, context) => new FlexStaging(spec, context).stage(),
  unmountStaged,
  detach,
  expand: expandVolume,
};

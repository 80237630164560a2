import type { DownwardAPIVolumeFile } from "../../api/types.gen.ts";
import type { NodeFieldsRef } from "../api/content.ts";
import { type ContentPlugin, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { memoryLayout, stageInMemory, withPayload } from "../staging.ts";
import { fieldOf } from "./node-fields.ts";
import { defaultMode, fieldFiles } from "./payload.ts";

/**
 * Fields of the Node as files, in memory: a volume of a node has no pod whose fields it could show.
 * (kubelet: pkg/volume/downwardapi; decision 0044)
 */
export const downwardAPI: ContentPlugin = {
  type: "downwardAPI",

  layout: (spec) => ({ ...memoryLayout(spec), content: [nodeFieldsRef(spec, sourceOf(spec, "downwardAPI").items)] }),

  stage: (spec, context) => withPayload(downwardAPI, spec, context, () => stageInMemory(spec, context)),

  payload(spec, [content]) {
    const { items, defaultMode: mode = defaultMode } = sourceOf(spec, "downwardAPI");
    return content === undefined ? [] : fieldFiles(items, content, mode);
  },
};

/** PURE. What is read of the Node for these items. */
export function nodeFieldsRef({ nodeName }: VolumeSpec, items: readonly DownwardAPIVolumeFile[]): NodeFieldsRef {
  return { kind: "Node", name: nodeName, fields: [...new Set(items.map(fieldOf))].sort() };
}

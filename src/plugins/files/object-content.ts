import { type ContentPlugin, sourceOf } from "../api/volume-plugin.ts";
import { memoryLayout, stageDirectory, stageInMemory, withPayload } from "../staging.ts";
import { defaultMode, keyFiles } from "./payload.ts";

/**
 * The keys of a ConfigMap as files, on disk, written by the atomic writer and shown read-only.
 * (kubelet: pkg/volume/configmap; without its subPath trap: a change reaches every target)
 */
export const configMap: ContentPlugin = {
  type: "configMap",

  layout(spec) {
    const { namespace, name, optional = false } = sourceOf(spec, "configMap");
    const content = [{ kind: "ConfigMap", namespace, name, optional }] as const;
    return { options: [], readOnly: true, devices: false, group: "write", content };
  },

  stage: (spec, context) => withPayload(configMap, spec, context, () => stageDirectory(context, 0o755)),

  payload(spec, [content]) {
    const source = sourceOf(spec, "configMap");
    const { name, defaultMode: mode = defaultMode } = source;
    return content === undefined ? [] : keyFiles(source, content, { mode, what: `ConfigMap ${name}` });
  },
};

/** The keys of a Secret as files, in memory that is not swapped if the kernel can. (kubelet: pkg/volume/secret) */
export const secret: ContentPlugin = {
  type: "secret",

  layout(spec) {
    const { namespace, secretName: name, optional = false } = sourceOf(spec, "secret");
    return { ...memoryLayout(spec), content: [{ kind: "Secret", namespace, name, optional }] };
  },

  stage: (spec, context) => withPayload(secret, spec, context, () => stageInMemory(spec, context)),

  payload(spec, [content]) {
    const source = sourceOf(spec, "secret");
    const { secretName, defaultMode: mode = defaultMode } = source;
    return content === undefined ? [] : keyFiles(source, content, { mode, what: `Secret ${secretName}` });
  },
};

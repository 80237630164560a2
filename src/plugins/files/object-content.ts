import type { ConfigMapVolumeSource, SecretVolumeSource } from "../../api/types.gen.ts";
import type { ContentPlugin, VolumeSpec } from "../api/volume-plugin.ts";
import { memoryLayout, stageDirectory, stageInMemory, withPayload } from "../staging.ts";
import { defaultMode, keyFiles } from "./payload.ts";

/**
 * The keys of a ConfigMap as files, on disk, written by the atomic writer and shown read-only.
 * (kubelet: pkg/volume/configmap; without its subPath trap: a change reaches every target)
 */
export const configMap: ContentPlugin = {
  type: "configMap",

  layout(spec) {
    const { namespace, name, optional = false } = configMapOf(spec);
    const content = [{ kind: "ConfigMap", namespace, name, optional }] as const;
    return { options: [], readOnly: true, devices: false, group: "write", content };
  },

  stage: (spec, context) => withPayload(configMap, spec, context, () => stageDirectory(context, 0o755)),

  payload(spec, [content]) {
    const source = configMapOf(spec);
    const { name, defaultMode: mode = defaultMode } = source;
    return content === undefined ? [] : keyFiles(source, content, { mode, what: `ConfigMap ${name}` });
  },
};

/**
 * The keys of a Secret as files, in memory that is not swapped where the kernel knows how. (kubelet: pkg/volume/secret)
 */
export const secret: ContentPlugin = {
  type: "secret",

  layout(spec) {
    const { namespace, secretName: name, optional = false } = secretOf(spec);
    return { ...memoryLayout(spec), content: [{ kind: "Secret", namespace, name, optional }] };
  },

  stage: (spec, context) => withPayload(secret, spec, context, () => stageInMemory(spec, context)),

  payload(spec, [content]) {
    const source = secretOf(spec);
    const { secretName, defaultMode: mode = defaultMode } = source;
    return content === undefined ? [] : keyFiles(source, content, { mode, what: `Secret ${secretName}` });
  },
};

function configMapOf(spec: VolumeSpec): ConfigMapVolumeSource {
  if (spec.source.configMap === undefined) throw new Error("not a configMap volume");
  return spec.source.configMap;
}

function secretOf(spec: VolumeSpec): SecretVolumeSource {
  if (spec.source.secret === undefined) throw new Error("not a secret volume");
  return spec.source.secret;
}

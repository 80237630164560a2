import type { ConfigMapVolumeSource, KeyToPath, SecretVolumeSource } from "../api/types.gen.ts";
import { VolumeError } from "../errors.ts";
import type { PayloadFile } from "../host/ports.ts";
import type { ContentPlugin, ObjectContent, StageContext, Staged, VolumeSpec } from "./plugin.ts";
import { memoryFilesystem, memorySource, stageDirectory, stageFilesystem } from "./staging.ts";

const defaultMode = 0o644; // core/v1: ConfigMapVolumeSourceDefaultMode, SecretVolumeSourceDefaultMode

/**
 * The keys of a ConfigMap as files, on disk, written by the atomic writer and shown read-only.
 * (kubelet: pkg/volume/configmap; without its subPath trap: a change reaches every target)
 */
export const configMap: ContentPlugin = {
  type: "configMap",

  layout(spec) {
    const { namespace, name, optional = false } = configMapOf(spec);
    return { options: [], readOnly: true, devices: false, content: { kind: "ConfigMap", namespace, name, optional } };
  },

  stage: async (spec, context) => staged(configMap, spec, context, await stageDirectory(context, 0o755)),

  payload: (spec, content) => payload(configMapOf(spec), content, `ConfigMap ${configMapOf(spec).name}`),
};

/** The keys of a Secret as files, in memory that is not swapped where the kernel knows how. (kubelet: pkg/volume/secret) */
export const secret: ContentPlugin = {
  type: "secret",

  layout(spec) {
    const { namespace, secretName: name, optional = false } = secretOf(spec);
    const content = { kind: "Secret", namespace, name, optional } as const;
    const filesystem = memoryFilesystem(spec);
    return { options: ["mode=0755"], readOnly: true, devices: false, content, filesystem };
  },

  async stage(spec, context) {
    const mount = { fsType: "tmpfs", source: memorySource(spec) };
    return staged(secret, spec, context, await stageUnswapped(context, mount, ["mode=0755"]));
  },

  payload: (spec, content) => payload(secretOf(spec), content, `Secret ${secretOf(spec).secretName}`),
};

/** tmpfs has noswap since Linux 6.4. */
async function stageUnswapped(
  context: StageContext,
  mount: { fsType: string; source: string },
  options: readonly string[],
): Promise<Staged> {
  try {
    return await stageFilesystem(context, { ...mount, options: [...options, "noswap"] });
  } catch (error) {
    if (!(error instanceof VolumeError) || error.reason !== "OptionsRefused") throw error;
    return stageFilesystem(context, { ...mount, options });
  }
}

async function staged(plugin: ContentPlugin, spec: VolumeSpec, context: StageContext, place: Staged): Promise<Staged> {
  if (context.content === undefined) throw new Error("a content volume is not staged before its content is known");
  await context.directories.writePayload(place.path, plugin.payload(spec, context.content));
  return place;
}

function payload(
  source: { items?: readonly KeyToPath[]; defaultMode?: number; optional?: boolean },
  content: ObjectContent,
  what: string,
): PayloadFile[] {
  const mode = source.defaultMode ?? defaultMode;
  if (source.items === undefined || source.items.length === 0) {
    return [...content.data].map(([key, value]) => ({ path: key, content: value, mode }));
  }
  return source.items.flatMap((item) => {
    const value = content.data.get(item.key);
    if (value !== undefined) return [{ path: item.path, content: value, mode: item.mode ?? mode }];
    if (source.optional === true) return [];
    throw new VolumeError("KeyNotFound", "final", `${what} has no key ${item.key}, which items names`);
  });
}

function configMapOf(spec: VolumeSpec): ConfigMapVolumeSource {
  if (spec.source.configMap === undefined) throw new Error("not a configMap volume");
  return spec.source.configMap;
}

function secretOf(spec: VolumeSpec): SecretVolumeSource {
  if (spec.source.secret === undefined) throw new Error("not a secret volume");
  return spec.source.secret;
}

import type { VolumeSource } from "../api/types.gen.ts";
import { cephfs } from "./cephfs/cephfs.ts";
import { cifs } from "./cifs.ts";
import { csi, persistentVolumeClaim } from "./csi.ts";
import { downwardAPI } from "./downward-api.ts";
import { emptyDir } from "./empty-dir.ts";
import { fc } from "./fc/fc.ts";
import { flexVolume } from "./flex-volume/flex-volume.ts";
import { flocker } from "./flocker.ts";
import { glusterfs } from "./fuse/glusterfs.ts";
import { git } from "./git.ts";
import { hostPath } from "./host-path.ts";
import { image } from "./image.ts";
import { iscsi } from "./iscsi/iscsi.ts";
import { local } from "./local.ts";
import { nfs } from "./nfs.ts";
import { configMap, secret } from "./object-content.ts";
import type { SourceType, VolumePlugin } from "./plugin.ts";
import { projected } from "./projected.ts";
import { rbd } from "./rbd.ts";

/** Every kind of volume. */
export const plugins: { readonly [T in SourceType]: VolumePlugin } = {
  emptyDir,
  hostPath,
  local,
  configMap,
  secret,
  downwardAPI,
  projected,
  git,
  image,
  nfs,
  glusterfs,
  flexVolume,
  flocker,
  cifs,
  cephfs,
  rbd,
  iscsi,
  fc,
  csi,
  persistentVolumeClaim,
};

/**
 * The one member of a source that is set.
 * @throws Error if there is none or several; validation refuses such objects
 */
export function sourceType(source: VolumeSource): SourceType {
  const types = (Object.keys(plugins) as SourceType[]).filter((type) => source[type] !== undefined);
  const [only] = types;
  if (only === undefined || types.length > 1) throw new Error(`a source has exactly one member, not ${types.length}`);
  return only;
}

/** PURE. The plugin of a source. The schema of the CRDs makes sure that there is exactly one. */
export function pluginFor(source: VolumeSource): VolumePlugin {
  return plugins[sourceType(source)];
}

import type { VolumeSource } from "../api/types.gen.ts";
import type { SourceType, VolumePlugin } from "./api/volume-plugin.ts";
import { csi, persistentVolumeClaim } from "./csi.ts";
import { fc } from "./fc/fc.ts";
import { downwardAPI } from "./files/downward-api.ts";
import { git } from "./files/git.ts";
import { image } from "./files/image.ts";
import { configMap, secret } from "./files/object-content.ts";
import { projected } from "./files/projected.ts";
import { flexVolume } from "./flex-volume/flex-volume.ts";
import { emptyDir } from "./host/empty-dir.ts";
import { hostPath } from "./host/host-path.ts";
import { iscsi } from "./iscsi/iscsi.ts";
import { local } from "./local/local.ts";
import { cephfs } from "./network/cephfs.ts";
import { cifs } from "./network/cifs.ts";
import { flocker } from "./network/flocker.ts";
import { glusterfs } from "./network/glusterfs.ts";
import { nfs } from "./network/nfs.ts";
import { rbd } from "./network/rbd.ts";

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

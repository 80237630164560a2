import type { GrantedCSIVolume, SecretReference } from "../../api/types.gen.ts";

/** The access mode of a granted CSI volume, by its name in Kubernetes. */
export type AccessMode = GrantedCSIVolume["accessMode"];

/** The CSI source of a PersistentVolume (core/v1 CSIPersistentVolumeSource). */
export interface PersistentVolumeCSI {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly readOnly: boolean;
  readonly fsType: string;
  readonly volumeAttributes: { readonly [key: string]: string };
  readonly nodeStageSecretRef: SecretReference | undefined;
  readonly nodePublishSecretRef: SecretReference | undefined;
  readonly nodeExpandSecretRef: SecretReference | undefined;
}

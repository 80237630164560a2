import type { GrantedCSIVolume, SecretReference } from "../../api/types.gen.ts";

export type AccessMode = GrantedCSIVolume["accessMode"];

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

/** The condition of a volume as its CSI driver reports it (VOLUME_CONDITION). A change makes a new object. */
export interface VolumeHealth {
  readonly abnormal: boolean;
  readonly message: string;
}

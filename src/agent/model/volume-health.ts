/** What a driver says of the state of a volume. Another object whenever that changes. */
export interface VolumeHealth {
  readonly abnormal: boolean;
  readonly message: string;
}

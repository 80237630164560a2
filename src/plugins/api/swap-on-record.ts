/** What is on record of the swap of a volume. */
export interface SwapOnRecord {
  /** `major:minor` of the device that was to be swapped to for this volume, in this boot. */
  readonly swapDevice: string | undefined;
  /** Takes back, durably, that a device was to be swapped to for this volume: it surely was not turned on. */
  recordNoSwap(): Promise<void>;
}

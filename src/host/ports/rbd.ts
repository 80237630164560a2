/**
 * An image of a Ceph cluster as the kernel is asked for it, without the key. What it shows of its device is the same
 * text.
 */
export interface RBDMapping {
  /** `MONITORS name=USER,OPTIONS POOL IMAGE -` */
  readonly text: string;
  /** For people. */
  readonly image: string;
}

/** An RBD image that the kernel has mapped. */
export interface RBDDevice {
  /** The kernel's number of it, which another gets when it is gone. */
  readonly id: string;
  /** As the node sees it. */
  readonly path: string;
}

/** Images of RBD as block devices of the kernel's own client (/sys/bus/rbd). */
export interface RBDDevices {
  /** The device that was mapped with exactly this text, if there is one. */
  find(mapping: RBDMapping): Promise<RBDDevice | undefined>;
  /**
   * Has the kernel map it.
   * @throws VolumeError FilesystemUnsupported, if the kernel has no RBD; ShareNotFound, ImageUnsupported,
   *   CredentialsRefused, VolumeHeldElsewhere, ServerUnreachable; TimedOut and OperationAbandoned: uncertain
   */
  map(mapping: RBDMapping, key: string): Promise<void>;
  /**
   * Gives a device back, if it is there still, and of this mapping.
   * @param force fails what is written and was not answered, and does not wait for it
   * @throws VolumeError DeviceBusy, if somebody has it open
   */
  unmap(mapping: RBDMapping, device: RBDDevice, force: boolean): Promise<void>;
}

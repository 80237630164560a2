import type { ChildProcessID } from "./types.ts";

/** An image of a Ceph cluster as the kernel is asked for it, without the key. Of its device it shows the same text. */
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

/** An image of a Ceph cluster as rbd-nbd(8) is asked for it. */
export interface NBDRequest {
  /** Tells its device and process from others: the kernel shows it of the device, the process has it as an argument. */
  readonly cookie: string;
  /** The monitors of its cluster. If they do not answer, other images of theirs are not tried either. */
  readonly monitors: readonly string[];
  /** POOL/IMAGE, for people. */
  readonly image: string;
  /** Where the image is, and how it is to be had: all but the cookie, the device and the log. */
  readonly args: readonly string[];
  /** What it is to find at `secretFile`, and nobody else. */
  readonly secret: string;
  /** Where it says what goes wrong. */
  readonly log: string;
}

/** What there is of an image: both, while it is served. */
export interface NBDServed {
  /**
   * Its block device, as the node sees it. What uses it waits while no process serves it, and gets errors after a time
   * (`--reattach-timeout`).
   */
  readonly device?: string;
  /** The process that serves it, from user space. */
  readonly client?: ChildProcessID;
}

/** Images of RBD as network block devices, each served by its own rbd-nbd(8), which goes on when the agent ends. */
export interface NBDImages {
  /** @throws VolumeError, if it cannot be told */
  find(cookie: string): Promise<NBDServed>;
  /** Its device alone. */
  deviceOf(cookie: string): Promise<string | undefined>;
  /**
   * Starts one that serves the image by a device of its own, or by one whose process has ended.
   * @throws VolumeError FilesystemUnsupported, if the kernel has no NBD; ToolMissing, ShareNotFound, ImageUnsupported,
   *   CredentialsRefused, VolumeHeldElsewhere, ServerUnreachable; TimedOut and OperationAbandoned: uncertain
   */
  serve(request: NBDRequest, device?: string): Promise<void>;
  /**
   * Takes a device away, if it is there still and has this cookie, whoever has it open; its process then writes what is
   * left, and ends by itself.
   * @throws VolumeError
   */
  disconnect(cookie: string, device: string): Promise<void>;
}

/** Nothing of this node's /etc/ceph, nor what monitors would have a program of Ceph change. */
export const nothingOfNode = ["--conf=/dev/null", "--no-mon-config", "--admin-socket=", "--keyring="] as const;

/** PURE. Errno's number of what a program of Ceph says last, `(13) Permission denied`. */
export function cephErrno(words: string): number | undefined {
  const found = [...words.matchAll(/\((\d{1,3})\) [A-Z]/g)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}

import { VolumeError } from "../../../errors.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import { createFilesystemMount } from "./filesystem-mount.ts";

/**
 * A tmpfs for a namespace of our own, not attached yet: not swapped where the kernel knows how (noswap, Linux 6.4), as
 * passwords and keys are in it.
 * @param options beside noswap: mode and size
 */
export function memoryMount(libc: Libc, path: string, source: string, options: readonly string[]): Descriptor {
  const make = (...more: string[]) =>
    createFilesystemMount(libc, {
      fsType: "tmpfs",
      source,
      options: [...options, ...more],
      attributes,
      target: { prefix: path, path },
    });
  try {
    return make("noswap");
  } catch (error) {
    if (!(error instanceof VolumeError) || error.reason !== "OptionsRefused") throw error;
    return make();
  }
}

const attributes = {
  readOnly: false,
  nosuid: true,
  nodev: true,
  noexec: true,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
} as const;

import { closeSync, openSync, readSync } from "node:fs";
import { optionName } from "../../../api/values/mount-options.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";
import { ifThere } from "../syscall/if-there.ts";

/**
 * Where an ext2, ext3 or ext4 says what is to be done about errors that the kernel meets in it, and what goes on:
 * fs/ext4/ext4.h.
 */
const place = 1024 + 0x3c;
const goOn = 1;

/**
 * The option errors= for an ext file system whose volume does not set it: continue if its superblock says so, else
 * remount-ro. The superblock's value is never taken unchecked: whoever wrote the disk could make it crash the node
 * (`errors=panic`).
 */
export function errorsOption({ fsType, source, options }: FilesystemMount): readonly string[] {
  if (!/^ext[234]$/.test(fsType) || options.some((option) => optionName(option) === "errors")) return [];
  return [`errors=${ifThere(() => shortAt(source, place)) === goOn ? "continue" : "remount-ro"}`];
}

function shortAt(path: string, at: number): number | undefined {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(2);
    return readSync(fd, bytes, 0, 2, at) === 2 ? bytes.readUInt16LE() : undefined;
  } finally {
    closeSync(fd);
  }
}

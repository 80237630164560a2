import koffi, { type LibraryHandle } from "koffi";
import { AT_EMPTY_PATH, MAX_HANDLE_SZ } from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";
import { Errno } from "./errno.ts";
import { file_handle } from "./layouts.ts";

/** What a file system calls a file, apart from every path to it (open_by_handle_at(2)). All throw Errno. */
export interface FileHandles {
  /** ENOTSUP, as libuv calls EOPNOTSUPP: the file system has no handles (overlayfs mostly). */
  handleOf(file: Descriptor): Buffer;
  /**
   * @param mount a directory in the mount that the file is to be opened through, not O_PATH. Needs CAP_DAC_READ_SEARCH.
   */
  openHandle(mount: Descriptor, handle: Buffer, flags: number): number;
}

/** Binds name_to_handle_at(2) and open_by_handle_at(2). */
export function loadFileHandles(lib: LibraryHandle): FileHandles {
  const nameToHandle = lib.func("name_to_handle_at", "int", ["int", "str", "void *", "void *", "int"]);
  const openByHandle = lib.func("open_by_handle_at", "int", ["int", "void *", "int"]);
  return {
    handleOf(file) {
      const handle = Buffer.alloc(file_handle.bytes + MAX_HANDLE_SZ);
      handle.writeUInt32LE(MAX_HANDLE_SZ, file_handle.handle_bytes);
      const mountID = Buffer.alloc(4);
      if (nameToHandle(file.fd, "", handle, mountID, AT_EMPTY_PATH) === 0) return handle;
      throw new Errno("name_to_handle_at", koffi.errno());
    },
    openHandle(mount, handle, flags) {
      const fd: number = openByHandle(mount.fd, handle, flags);
      if (fd >= 0) return fd;
      throw new Errno("open_by_handle_at", koffi.errno());
    },
  };
}

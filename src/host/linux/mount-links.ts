import { readFileSync } from "node:fs";
import koffi, { type LibraryHandle } from "koffi";
import { parseMountinfo } from "../mountinfo.ts";
import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, STATMOUNT_MNT_BASIC, STATX, SYS } from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";

/** Errors that say: this kernel has no statmount(2), or the container's system call filter does not let it through. */
const notThere: ReadonlySet<number> = new Set([koffi.os.errno["ENOSYS"] ?? 38, koffi.os.errno["EPERM"] ?? 1]);

/**
 * Which mounts there are, asked by id and without a path: no rename can come between. By the 64-bit ids that the kernel
 * never gives twice where it has them (statmount(2), Linux 6.8), else by the table of the process.
 */
export interface MountLinks {
  /** What tells the mount that a descriptor is in from every other. */
  keyOf(mount: Descriptor): MountID;
  /** The id, as statx(2) and mountinfo have it, of the mount that this one is mounted in; undefined if it is attached nowhere. */
  parentOf(key: MountID): number | undefined;
  /** Whether anything is mounted on or in it; false also where the kernel does not say. */
  hasChildren(key: MountID): boolean;
}

/** An id that is never used again, or where the kernel has none, one that is. */
export interface MountID {
  readonly unique?: bigint;
  readonly id: number;
}

export function loadMountLinks(lib: LibraryHandle): MountLinks {
  const statx = lib.func("statx", "int", ["int", "str", "int", "uint", "void *"]);
  const listmount = lib.func("syscall", "long", ["long", "void *", "void *", "size_t", "uint"]);
  const statmount = lib.func("syscall", "long", ["long", "void *", "void *", "size_t", "uint"]);

  /** @returns undefined if the kernel does not say, "gone" if there is no such mount in this namespace */
  const ask = (unique: bigint): number | "gone" | undefined => {
    const request = requestOf(unique, STATMOUNT_MNT_BASIC);
    const reply = Buffer.alloc(512);
    if (statmount(SYS.statmount, request, reply, reply.length, 0) === 0) return reply.readUInt32LE(60);
    return notThere.has(koffi.errno()) ? undefined : "gone";
  };

  return {
    keyOf(mount) {
      const [unique, id] = [STATX.MNT_ID_UNIQUE, STATX.MNT_ID].map((mask) => {
        const out = Buffer.alloc(256);
        const has =
          statx(mount.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, out) === 0 &&
          (out.readUInt32LE(0) & mask) !== 0;
        return has ? out.readBigUInt64LE(144) : undefined;
      });
      return { id: Number(id ?? -1), ...(unique !== undefined && { unique }) };
    },
    parentOf({ unique, id }) {
      const parent = unique === undefined ? undefined : ask(unique);
      if (parent === "gone") return undefined;
      return parent ?? parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).find((m) => m.id === id)?.parent;
    },
    hasChildren({ unique }) {
      if (unique === undefined) return false;
      return listmount(SYS.listmount, requestOf(unique, 0), Buffer.alloc(8), 1, 0) > 0;
    },
  };
}

/** struct mnt_id_req. @param parameter what is asked of statmount, the last id seen of listmount */
function requestOf(unique: bigint, parameter: number): Buffer {
  const request = Buffer.alloc(24);
  request.writeUInt32LE(request.length, 0);
  request.writeBigUInt64LE(unique, 8);
  request.writeBigUInt64LE(BigInt(parameter), 16);
  return request;
}

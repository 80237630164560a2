import type { LibraryHandle } from "koffi";
import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, STATMOUNT, STATX } from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";
import { statx as AT } from "./layouts.ts";
import { byIDOrText, loadMountQueries, type MountQueries } from "./mount-calls.ts";
import { mountIDOf, ownMounts } from "./proc.ts";
import { parentIn } from "./statmount.ts";

/**
 * Which mounts there are, asked by id and without a path: no rename can come between. By the 64-bit ids that the kernel
 * never gives twice where it has them (statmount(2), Linux 6.8), else by the table of the process. All throw Errno.
 */
export interface MountLinks {
  /** What tells the mount that a descriptor is in from every other. */
  keyOf(mount: Descriptor): MountID;
  /** Of that the id that is never used again; undefined where the kernel has none. */
  uniqueOf(mount: Descriptor): bigint | undefined;
  /** The id (statx(2), mountinfo) of the mount that this one is mounted in; undefined if it is attached nowhere. */
  parentOf(key: MountID): number | undefined;
  /** Whether anything is mounted on or in it. */
  hasChildren(key: MountID): boolean;
}

/** An id that is never used again, or where the kernel has none, one that is. */
export interface MountID {
  readonly unique?: bigint;
  readonly id: number;
}

/** Binds the calls that tell mounts by a path, and their neighbours. */
export function loadMountLinks(lib: LibraryHandle, queries: MountQueries = loadMountQueries(lib)): MountLinks {
  const statx = lib.func("statx", "int", ["int", "str", "int", "uint", "void *"]);
  const ask = <A>({ unique }: MountID, byID: (unique: number) => A, byText: () => A): A =>
    unique === undefined ? byText() : byIDOrText(() => byID(Number(unique)), byText);

  // Used again by each call: it is over when the call returns.
  const out = Buffer.alloc(AT.bytes);
  const idOf = (mount: Descriptor, mask: number): bigint | undefined => {
    if (statx(mount.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, out) !== 0) return undefined;
    return (out.readUInt32LE(AT.stx_mask) & mask) === 0 ? undefined : out.readBigUInt64LE(AT.stx_mnt_id);
  };

  return {
    keyOf(mount) {
      const unique = idOf(mount, STATX.MNT_ID_UNIQUE);
      return { id: Number(idOf(mount, STATX.MNT_ID) ?? mountIDOf(mount)), ...(unique !== undefined && { unique }) };
    },
    uniqueOf: (mount) => idOf(mount, STATX.MNT_ID_UNIQUE),
    parentOf: (key) =>
      ask(
        key,
        (unique) => parentIn(queries.statmount(unique, BigInt(STATMOUNT.MNT_BASIC), 0n)),
        () => ownMounts().find(({ id }) => id === key.id)?.parent,
      ),
    hasChildren: (key) =>
      ask(
        key,
        (unique) => queries.hasChildren(unique),
        () => ownMounts().some(({ id, parent }) => parent === key.id && id !== key.id),
      ),
  };
}

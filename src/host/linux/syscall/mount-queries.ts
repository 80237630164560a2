import koffi, { type LibraryHandle } from "koffi";
import { E, LSMT_ROOT, MNT_ID_REQ_SIZE, SYS } from "./constants.ts";
import { Errno, errnoOf } from "./errno.ts";
import { mnt_id_req } from "./layouts.ts";

const idsAtOnce = 2_048;
/** What most mounts fit into; one that has longer strings is asked for again. */
const usualBytes = 4_096;
const mostBytes = 1 << 20;

/**
 * statmount(2) and listmount(2), Linux 6.8, which wait for no file system. All throw Errno. Ids are the 64-bit ones:
 * below 2^53.
 */
export interface MountQueries {
  /**
   * What the kernel says of one mount, as struct statmount, good until the next call; undefined if there is no mount of
   * this unique id in the namespace.
   * @param namespace its id; 0: that of the calling thread
   */
  statmount(id: number, mask: bigint, namespace: bigint): Buffer | undefined;
  /** Unique ids of the mounts of a namespace that paths lead to, oldest first. */
  listmount(namespace: bigint): number[];
  /**
   * The next few unique ids of mounts beneath one, by which all is beneath undefined that paths lead to; oldest first.
   */
  listBeneath(of: { readonly namespace: bigint; readonly mount?: number }, after: number): number[];
  /** Whether anything is mounted on or in a mount of our own namespace. */
  hasChildren(id: number): boolean;
}

/** This kernel does not have the calls, or the container's system call filter does not let them through. */
const notThere: ReadonlySet<string> = new Set(["ENOSYS", "EPERM"]);

/** What `ask` finds by the calls; where they are not to be had, what mountinfo says. */
export function byIDOrText<A>(ask: () => A, byText: () => A): A {
  try {
    return ask();
  } catch (error) {
    if (!notThere.has(errnoOf(error) ?? "")) throw error;
    return byText();
  }
}

/** Binds statmount(2) and listmount(2). */
export function loadMountQueries(lib: LibraryHandle): MountQueries {
  const asking = lib.func("syscall", "long", ["long", "void *", "void *", "size_t", "uint"]);
  const request = Buffer.alloc(MNT_ID_REQ_SIZE.VER1);
  const ids = Buffer.alloc(8 * idsAtOnce);
  let answer = Buffer.alloc(usualBytes);

  const prepare = (id: bigint, parameter: bigint, namespace: bigint): void => {
    const { VER0, VER1 } = MNT_ID_REQ_SIZE;
    request.writeUInt32LE(namespace === 0n ? VER0 : VER1, mnt_id_req.size);
    request.writeBigUInt64LE(id, mnt_id_req.mnt_id);
    request.writeBigUInt64LE(parameter, mnt_id_req.param);
    request.writeBigUInt64LE(namespace, mnt_id_req.mnt_ns_id);
  };
  /** errno is only good in the statement after the call. */
  const list = (most: number): number => {
    const count: number = asking(SYS.listmount, request, ids, most, 0);
    if (count >= 0) return count;
    throw new Errno("listmount", koffi.errno());
  };

  const listBeneath: MountQueries["listBeneath"] = ({ namespace, mount }, after) => {
    prepare(mount === undefined ? LSMT_ROOT : BigInt(mount), BigInt(after), namespace);
    return Array.from({ length: list(idsAtOnce) }, (_, at) => {
      return ids.readUInt32LE(8 * at) + ids.readUInt32LE(8 * at + 4) * 2 ** 32;
    });
  };

  return {
    statmount(id, mask, namespace) {
      prepare(BigInt(id), mask, namespace);
      for (;;) {
        if (asking(SYS.statmount, request, answer, answer.length, 0) >= 0) return answer;
        const errno = koffi.errno();
        if (errno === E.NOENT) return undefined;
        if (errno !== E.OVERFLOW || answer.length >= mostBytes) throw new Errno("statmount", errno);
        answer = Buffer.alloc(answer.length * 2);
      }
    },
    listmount(namespace) {
      const all: number[] = [];
      for (;;) {
        const some = listBeneath({ namespace }, all.at(-1) ?? 0);
        all.push(...some);
        if (some.length < idsAtOnce) return all;
      }
    },
    listBeneath,
    hasChildren(id) {
      prepare(BigInt(id), 0n, 0n);
      try {
        return list(1) > 0;
      } catch (error) {
        if (errnoOf(error) === "ENOENT") return false; // it is attached nowhere
        throw error;
      }
    },
  };
}

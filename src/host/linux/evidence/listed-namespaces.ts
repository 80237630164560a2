import { fstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { messageOf } from "../../../errors.ts";
import { OptionLists } from "../../mount-table/option-lists.ts";
import { CAP_SYS_ADMIN, USER_NS_INIT_INO } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import type { MountCalls } from "../syscall/mount-calls.ts";
import { decodeAnywhere, headIn, headMask, statmountMask } from "../syscall/statmount.ts";
import { type MountFilter, newOnesComeTooFast, passes, unreadable } from "./seen-mount.ts";

/** The system calls by which mount namespaces are listed and read without entering them (Linux 6.11 and later). */
export type NamespaceCalls = Pick<MountCalls, "namespaceID" | "namespaceType" | "namespaceBeside" | "countMounts"> &
  Pick<MountCalls, "statmount" | "listBeneath">;

/** A mount namespace that the kernel lists, whether or not a process is in it. */
export interface ListedNamespace {
  /** What /proc calls it. */
  readonly name: string;
  readonly id: bigint;
  scan(filter: MountFilter): Promise<void>;
}

/** Mounts that are asked for before others get a turn. */
const turn = 256;
/** In CapEff, and the user namespace of the machine. */
const sysAdmin = 1n << BigInt(CAP_SYS_ADMIN);
const machineUsers = `user:[${USER_NS_INIT_INO}]`;

/**
 * Visits each mount namespace of the machine once, as the kernel lists them (ioctl_nsfs(2), Linux 6.12): also those
 * that no process is in, which a bind-mounted file of nsfs or a descriptor keeps, and those of processes that cannot be
 * read. One that comes meanwhile may have a lower id, as each processor has ids of its own: the list is gone through
 * until nothing new is in it.
 * @returns why this kernel does not list them for us; undefined if all of them were visited
 */
export async function eachListedNamespace(
  calls: NamespaceCalls,
  visit: (namespace: ListedNamespace) => Promise<void>,
): Promise<string | undefined> {
  if (!seesAll()) return "only root of the machine, with CAP_SYS_ADMIN, sees all";
  const seen = new Set<bigint>();
  for (let pass = 0; pass < passes; pass++) {
    const before = seen.size;
    using walk = new NamespaceWalk(calls);
    const refused = unlistedBecause(() => walk.toFirst());
    if (refused !== undefined) return refused;
    do {
      const { fd } = walk;
      const id = calls.namespaceID(fd);
      if (seen.has(id)) continue;
      await visit(listedNamespace(calls, fd));
      seen.add(id);
    } while (walk.go("GET_NEXT"));
    if (seen.size === before) return undefined;
  }
  throw newOnesComeTooFast();
}

/**
 * What the kernel tells of the mount namespace that a file is open on, as long as it is.
 * @throws Errno ENOTTY of an older kernel
 */
export function listedNamespace(calls: NamespaceCalls, fd: number): ListedNamespace {
  const id = calls.namespaceID(fd);
  return { name: nameOf(fd), id, scan: (filter) => scan(calls, { fd, id }, filter) };
}

/** What /proc calls the mount namespace that a file is open on. */
export function nameOf(fd: number): string {
  return `mnt:[${fstatSync(fd).ino}]`;
}

/** From one mount namespace to the next. The one that it is at stays until it goes on. */
class NamespaceWalk implements Disposable {
  readonly #calls: NamespaceCalls;
  #at = new Descriptor(openSync("/proc/self/ns/mnt", "r"));

  constructor(calls: NamespaceCalls) {
    this.#calls = calls;
  }

  get fd(): number {
    return this.#at.fd;
  }

  toFirst(): void {
    while (this.go("GET_PREV"));
  }

  /** @returns false if there is none */
  go(which: "GET_NEXT" | "GET_PREV"): boolean {
    const fd = this.#calls.namespaceBeside(this.fd, which);
    if (fd === undefined) return false;
    this.#at[Symbol.dispose]();
    this.#at = new Descriptor(fd);
    return true;
  }

  [Symbol.dispose](): void {
    this.#at[Symbol.dispose]();
  }
}

/** ENOTTY: an older kernel. EPERM: this process is not in the machine's PID namespace. */
function unlistedBecause(walk: () => void): string | undefined {
  try {
    walk();
    return undefined;
  } catch (error) {
    if (!["ENOTTY", "EPERM"].includes(errnoOf(error) ?? "")) throw error;
    return messageOf(error);
  }
}

/** A kernel may leave out of its list, without an error, what the caller has no right to see. */
function seesAll(): boolean {
  const capabilities = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync("/proc/thread-self/status", "latin1"))?.[1];
  return (
    readlinkSync("/proc/self/ns/user") === machineUsers && (BigInt(`0x${capabilities ?? 0}`) & sysAdmin) === sysAdmin
  );
}

/**
 * All mounts of a namespace, also those to which no path leads from its root; the newest last. Its open file keeps it.
 */
async function scan(
  calls: NamespaceCalls,
  { fd, id }: { readonly fd: number; readonly id: bigint },
  { wanted, found }: MountFilter,
): Promise<void> {
  const lists = new OptionLists();
  /** @returns whether that is enough */
  const isEnough = (mount: number): boolean => {
    const head = calls.statmount(mount, headMask, id);
    if (head === undefined) return false; // unmounted meanwhile
    const { parent, device } = headIn(head);
    if (!wanted(`${parent}`, device)) return false;
    const told = calls.statmount(mount, statmountMask, id);
    if (told === undefined) return false;
    const { entry, vague } = decodeAnywhere(told, lists);
    return found(vague === undefined ? entry : { ...entry, vague });
  };
  try {
    const top = topOf(calls, fd, id);
    if (top === undefined || isEnough(top)) return;
    let looks = 0;
    for (let after = 0; ; ) {
      const some = calls.listBeneath({ namespace: id, mount: top }, after);
      if (some.length === 0) return;
      for (const mount of some) {
        if (++looks % turn === 0) await new Promise((resolve) => setImmediate(resolve));
        if (mount !== top && isEnough(mount)) return;
        after = mount;
      }
    }
  } catch (error) {
    throw errnoOf(error) === undefined ? error : unreadable(`namespace ${id}: ${messageOf(error)}`, error);
  }
}

/**
 * The mount that all others of a namespace are beneath. The root that paths begin at is a mount on it. Undefined if
 * there is no other, which older kernels answer with ENOENT: what it was made with, the empty root of the machine, is
 * no volume.
 */
function topOf(calls: NamespaceCalls, fd: number, id: bigint): number | undefined {
  let mount = firstOf(calls, fd, id);
  for (;;) {
    const head = mount === undefined ? undefined : calls.statmount(mount, headMask, id);
    if (mount === undefined || head === undefined) return mount;
    const { above } = headIn(head);
    if (above === mount) return mount;
    mount = above;
  }
}

function firstOf(calls: NamespaceCalls, fd: number, id: bigint): number | undefined {
  const [first] = unlessErrno(["ENOENT"], () => calls.listBeneath({ namespace: id }, 0)) ?? [];
  if (first !== undefined) return first;
  const count = calls.countMounts(fd);
  if (count > 1) throw unreadable(`namespace ${id}: the kernel counts ${count} mounts and lists none`);
  return undefined;
}

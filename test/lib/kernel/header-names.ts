import * as C from "../../../src/host/linux/syscall/constants.ts";
import * as layouts from "../../../src/host/linux/syscall/layouts.ts";

/** An expression of C, and what our sources say it is. */
export interface Said {
  /** As our sources call it: `O.PATH`. */
  readonly name: string;
  readonly expression: string;
  readonly value: bigint;
}

/** What the C library has to say, as the kernel's headers do not. */
const ofLibrary =
  /^(UMOUNT\.|AF\.|SOCK\.|MSG_DONTWAIT|POSIX_SPAWN\.|MAX_HANDLE_SZ|LOCK\.|E\.|rlimit\.|timespec\.|file_handle\.)/;

/** What Node was told by the headers of its own architecture: compared with those alone. */
const ofNode = /^O\.(DIRECTORY|NOFOLLOW)$/;

/** What the headers of x64 alone have. */
const ofX64 = /^X32_SYSCALL_BIT$/;

/** How a group's names begin in the headers, where it is not with the group's own name and "_". */
const beginnings: { readonly [group: string]: string } = { SYS: "__NR_", E: "E", IOCTL: "" };

const others: { readonly [name: string]: string } = {
  X32_SYSCALL_BIT: "__X32_SYSCALL_BIT",
  LINUX_CAPABILITY_VERSION_3: "_LINUX_CAPABILITY_VERSION_3",
  "UMOUNT.FORCE": "MNT_FORCE",
  "UMOUNT.DETACH": "MNT_DETACH",
  "UMOUNT.EXPIRE": "MNT_EXPIRE",
  "MOUNT_ATTR.ATIME_MASK": "MOUNT_ATTR__ATIME",
  "EPOLL.IN": "EPOLLIN",
  "EPOLL.PRI": "EPOLLPRI",
  "EPOLL.ET": "EPOLLET",
};

type Numbers = { readonly [name: string]: number | bigint };

/** PURE. All that our sources say of the interface: of the constants and layouts, each of them. */
export function saidOf(arch: keyof typeof C.byArchitecture, own: string): { kernel: Said[]; library: Said[] } {
  const { byArchitecture, ...same } = C;
  const constants = Object.entries(same).flatMap(([group, value]) =>
    typeof value === "object"
      ? inGroup(group, value as Numbers)
      : [said(group, others[group] ?? group, value as number | bigint)],
  );
  const differing = inGroup("SYS", byArchitecture[arch]);
  const all = [...constants, ...differing, ...Object.entries(layouts).flatMap(([tag, of]) => ofLayout(tag, of))];
  const compared = all.filter(
    ({ name }) => (arch === own || !ofNode.test(name)) && (arch === "x64" || !ofX64.test(name)),
  );
  return {
    kernel: compared.filter(({ name }) => !ofLibrary.test(name)),
    library: compared.filter(({ name }) => ofLibrary.test(name)),
  };
}

function inGroup(group: string, numbers: Numbers): Said[] {
  return Object.entries(numbers).map(([key, value]) => {
    const name = `${group}.${key}`;
    return said(name, others[name] ?? `${beginnings[group] ?? `${group}_`}${key}`, value);
  });
}

function ofLayout(tag: string, layout: Numbers): Said[] {
  return Object.entries(layout).map(([field, value]) => {
    const of = `struct ${tag}`;
    return said(`${tag}.${field}`, field === "bytes" ? `sizeof(${of})` : `__builtin_offsetof(${of}, ${field})`, value);
  });
}

function said(name: string, expression: string, value: number | bigint): Said {
  return { name, expression, value: BigInt.asIntN(64, BigInt(value)) };
}

import {
  AF,
  AUDIT_ARCH,
  BPF,
  byArchitecture,
  CLONE,
  CLONE_NEWCGROUP,
  CLONE_NEWNS,
  E,
  F,
  IOCTL,
  NETLINK_ROUTE,
  SECCOMP,
  SYS,
  X32_SYSCALL_BIT,
} from "../syscall/constants.ts";
import { seccomp_data, sock_filter } from "../syscall/layouts.ts";

type Arch = keyof typeof byArchitecture;
/** x64 has every call that arm64 has. */
type CallName = keyof typeof SYS | keyof (typeof byArchitecture)["x64"];

/**
 * io_uring(7): no filter sees what a ring does for its process, such as to make a socket of any family. libuv makes one
 * for epoll_ctl(2) when Node starts. It does without if it gets none, and ends the process if it has one that it cannot
 * use: so these are refused before Node starts (start-confined.ts).
 */
export const ringCalls = [
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
] as const satisfies readonly CallName[];

/**
 * System calls that neither Node nor git, ssh, the C library or our own code makes while it fetches and unpacks. The
 * kernel answers them with EPERM, also to root. Most change the node itself. The others reach into other processes, or
 * are parts of the kernel in which many vulnerabilities were found.
 */
export const refusedCalls = [
  ...["mount", "umount2", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick"],
  ...["mount_setattr", "pivot_root", "chroot", "setns", "mknod", "mknodat"],
  ...["ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "move_pages"],
  ...["bpf", "perf_event_open", "userfaultfd", ...ringCalls],
  ...["init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"],
  ...["add_key", "request_key", "keyctl", "open_by_handle_at", "name_to_handle_at", "fanotify_init"],
  ...["quotactl", "quotactl_fd", "acct", "swapon", "swapoff", "syslog", "vhangup", "sethostname", "setdomainname"],
  ...["settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm"],
  ...["setsid", "setpgid"], // the agent ends a child and what it has started by their group
] as const satisfies readonly CallName[];

/**
 * What one process may do to others of its user by their numbers (kill(2) and others are for itself: `alone`), and how
 * it makes others that go on without it.
 */
const callsOnOthers = [
  ...["tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal", "process_mrelease"],
  ...["setpriority", "ioprio_set", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"],
  ...["migrate_pages", "fork", "vfork"],
] as const satisfies readonly CallName[];

const archs = { x64: AUDIT_ARCH.X86_64, arm64: AUDIT_ARCH.AARCH64 } as const satisfies { [arch in Arch]: number };

/** Flags of clone(2) that make a namespace, or a child of the agent that it knows nothing of. */
const namespaces =
  (CLONE.PARENT |
    CLONE_NEWNS |
    CLONE_NEWCGROUP |
    CLONE.NEWTIME |
    CLONE.NEWUTS |
    CLONE.NEWIPC |
    CLONE.NEWUSER |
    CLONE.NEWPID |
    CLONE.NEWNET) >>>
  0;

/** How a call ends, in the order in which the program has these at its end. */
const ends = {
  allow: SECCOMP.RET_ALLOW,
  refuse: SECCOMP.RET_ERRNO | E.PERM,
  /** The C library then takes clone(2), whose flags a filter can read. Those of clone3(2) are in memory. */
  unknown: SECCOMP.RET_ERRNO | E.NOSYS,
  /** As if the kernel had no such sockets: the C library, and others, then do without. */
  noFamily: SECCOMP.RET_ERRNO | E.AFNOSUPPORT,
  kill: SECCOMP.RET_KILL_PROCESS,
} as const;
type End = keyof typeof ends;

/** One instruction; `yes` and `no` are where it goes on: at an end, or so many instructions further. */
interface Step {
  readonly code: number;
  readonly k: number;
  readonly yes?: End | number;
  readonly no?: End | number;
}

/** What a filter leaves. */
export interface Filtered {
  /** Flags of unshare(2) that are allowed. None by default. */
  readonly mayUnshare?: number;
  /** What is refused: `refusedCalls` by default. */
  readonly refused?: readonly CallName[];
  /**
   * The number of this process, if it needs no other: it starts none, and neither sends signals to others nor sets
   * their limits, priorities or processors.
   */
  readonly alone?: number;
}

/**
 * PURE. The program of a seccomp filter, for seccomp(2). It refuses calls, new namespaces, and sockets of families that
 * fetching does not need. It kills a process that makes calls of another architecture, where the same numbers mean
 * other calls.
 */
export function callFilter(arch: Arch, { mayUnshare = 0, refused = refusedCalls, alone }: Filtered = {}): Buffer {
  const numbers: { readonly [name: string]: number } = { ...SYS, ...byArchitecture[arch] };
  const number = (name: CallName) => numbers[name] ?? missing(name);
  const isAlone = alone !== undefined;
  const there = [...refused, ...(isAlone ? callsOnOthers : [])].filter((name) => numbers[name] !== undefined);
  const steps: readonly Step[] = [
    load(seccomp_data.arch),
    jump("JEQ", archs[arch], 0, "kill"),
    load(seccomp_data.nr),
    jump("JGE", X32_SYSCALL_BIT, "kill"),
    ...there.map((name) => jump("JEQ", number(name), "refuse")),
    jump("JEQ", number("clone3"), "unknown"),
    ...refusingFlags(number("clone"), namespaces, isAlone ? CLONE.THREAD : 0),
    ...(isAlone ? refusingOthers(number, alone) : []),
    ...refusingFlags(number("unshare"), ~mayUnshare >>> 0),
    ...refusingFamilies(number("socket"), number("socketpair")),
    ...Object.values(ends).map((k) => ({ code: BPF.RET | BPF.K, k })),
  ];
  return assembled(steps);
}

/** PURE. A program that refuses nothing: a kernel that has filters takes it. */
export function filterOfNothing(): Buffer {
  return assembled([{ code: BPF.RET | BPF.K, k: ends.allow }]);
}

function missing(name: string): never {
  throw new Error(`no number for ${name}`);
}

/**
 * Both calls have their flags in the lower half of the first argument.
 * @param needed one that there must be, if it is not 0
 */
function refusingFlags(call: number, flags: number, needed = 0): readonly Step[] {
  const steps = [
    ...(needed === 0 ? [] : [jump("JSET", needed, 0, "refuse")]),
    jump("JSET", flags, "refuse", "allow"),
  ] as const;
  return [jump("JEQ", call, 0, steps.length + 1), load(seccomp_data.args), ...steps];
}

/** Signals and limits are for this process. Those of a file would be sent to whoever is named as its owner. */
function refusingOthers(number: (name: CallName) => number, own: number): readonly Step[] {
  const second = seccomp_data.args + 8;
  return [
    ...(["kill", "tgkill"] as const).flatMap((name) => [
      jump("JEQ", number(name), 0, 2),
      load(seccomp_data.args),
      jump("JEQ", own, "allow", "refuse"),
    ]),
    jump("JEQ", number("prlimit64"), 0, 3),
    load(seccomp_data.args),
    jump("JEQ", 0, "allow"),
    jump("JEQ", own, "allow", "refuse"),
    jump("JEQ", number("fcntl"), 0, 3),
    load(second),
    jump("JEQ", F.SETOWN, "refuse"),
    jump("JEQ", F.SETOWN_EX, "refuse", "allow"),
    jump("JEQ", number("ioctl"), 0, 3),
    load(second),
    jump("JEQ", IOCTL.FIOSETOWN, "refuse"),
    jump("JEQ", IOCTL.SIOCSPGRP, "refuse", "allow"),
  ];
}

/**
 * IPv4 and IPv6 remain, and of netlink(7) what getaddrinfo(3) asks for the addresses of the node. With unix(7) there
 * are pairs alone, which Node makes for what it starts: a socket of one's own could reach the container runtime.
 */
function refusingFamilies(socket: number, socketPair: number): readonly Step[] {
  const [family, protocol] = [seccomp_data.args, seccomp_data.args + 2 * 8];
  return [
    jump("JEQ", socketPair, 0, 2),
    load(family),
    jump("JEQ", AF.UNIX, "allow", "noFamily"),
    jump("JEQ", socket, 0, 6),
    load(family),
    jump("JEQ", AF.INET, "allow"),
    jump("JEQ", AF.INET6, "allow"),
    jump("JEQ", AF.NETLINK, 0, "noFamily"),
    load(protocol),
    jump("JEQ", NETLINK_ROUTE, "allow", "noFamily"),
  ];
}

function load(offset: number): Step {
  return { code: BPF.LD | BPF.W | BPF.ABS, k: offset };
}

function jump(test: "JEQ" | "JGE" | "JSET", k: number, yes: End | number = 0, no: End | number = 0): Step {
  return { code: BPF.JMP | BPF[test] | BPF.K, k, yes, no };
}

function assembled(steps: readonly Step[]): Buffer {
  const program = Buffer.alloc(steps.length * sock_filter.bytes);
  const names = Object.keys(ends);
  const firstEnd = steps.length - names.length;
  for (const [index, { code, k, yes = 0, no = 0 }] of steps.entries()) {
    const distance = (to: End | number) => (typeof to === "number" ? to : firstEnd + names.indexOf(to) - index - 1);
    const at = index * sock_filter.bytes;
    program.writeUInt16LE(code, at + sock_filter.code);
    program.writeUInt8(distance(yes), at + sock_filter.jt); // throws if it is too far
    program.writeUInt8(distance(no), at + sock_filter.jf);
    program.writeUInt32LE(k, at + sock_filter.k);
  }
  return program;
}

import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { callFilter, refusedCalls, ringCalls } from "../../../../../src/host/linux/child/call-filter.ts";
import { refuseCalls } from "../../../../../src/host/linux/child/refuse-calls.ts";
import * as C from "../../../../../src/host/linux/syscall/constants.ts";
import { Errno } from "../../../../../src/host/linux/syscall/errno.ts";

type Arch = keyof typeof C.byArchitecture;
const auditArch = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
const answers = new Map([
  [0x7fff0000, "allowed"],
  [0x50000 | EPERM, "EPERM"],
  [0x50000 | ENOSYS, "ENOSYS"],
  [0x50000 | EAFNOSUPPORT, "EAFNOSUPPORT"],
  [0x80000000, "killed"],
]);

interface Call {
  readonly number: number;
  readonly arch: number;
  /** The first argument. */
  readonly flags?: bigint;
  readonly second?: bigint;
  readonly third?: bigint;
}

/** Reads a program as the kernel does (include/uapi/linux/filter.h), as far as ours go. */
function answerTo(program: Buffer, { number, arch, flags = 0n, second = 0n, third = 0n }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  data.writeBigUInt64LE(flags, 16);
  data.writeBigUInt64LE(second, 24);
  data.writeBigUInt64LE(third, 32);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no] = [program.readUInt16LE(at * 8), program[at * 8 + 2] ?? 0, program[at * 8 + 3] ?? 0];
    const k = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return answers.get(k) ?? `answer ${k.toString(16)}`;
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) at += accumulator === k ? yes : no;
    else if (code === 0x35) at += accumulator >= k ? yes : no;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? yes : no;
    else throw new Error(`instruction ${code.toString(16)}`);
  }
}

describe("callFilter", () => {
  for (const arch of ["x64", "arm64"] as const satisfies readonly Arch[]) {
    describe(`on ${arch}`, () => {
      const numbers: { readonly [name: string]: number } = { ...C.SYS, ...C.byArchitecture[arch] };
      const program = callFilter(arch);
      const answer = (number = -1, flags = 0n, by = program) =>
        answerTo(by, { number: number >>> 0, arch: auditArch[arch], flags });

      it("refuses each call of its list, and nothing else that has a number here, but clone3", () => {
        const refused = Object.keys(numbers).filter((name) => answer(numbers[name]) === "EPERM");
        const there: readonly string[] = refusedCalls.filter((name) => numbers[name] !== undefined);
        expect(refused.sort()).to.deep.equal([...there].sort());
        expect(refused.length).to.be.greaterThan(45);
        expect(answer(numbers["clone3"])).to.equal("ENOSYS");
        for (const one of [0, 1, 2, 3, 200, 400]) {
          const isNamed = Object.values(numbers).includes(one);
          if (!isNamed) expect(answer(one), `${one}`).to.equal("allowed");
        }
      });

      it("refuses each call that sets the clock, whether the list has it or not", () => {
        const clocks = arch === "x64" ? [159, 164, 227, 305] : [171, 170, 112, 266];
        for (const number of clocks) expect(answer(number), `${number}`).to.equal("EPERM");
      });

      it("lets threads and processes be made, and neither a namespace nor a child of the agent with them", () => {
        const thread = 0x3d0f00n; // of pthread_create(3)
        const process = 17n | 0x1200000n; // of fork(3): SIGCHLD
        for (const flags of [thread, process, 0x4111n]) expect(answer(numbers["clone"], flags)).to.equal("allowed");
        for (const bit of [7n, 15n, 17n, 25n, 26n, 27n, 28n, 29n, 30n])
          expect(answer(numbers["clone"], process | (1n << bit)), `bit ${bit}`).to.equal("EPERM");
      });

      it("refuses unshare(2), but for what is allowed and nothing with it", () => {
        const [pid, user, mounts] = [0x20000000n, 0x10000000n, 0x20000n];
        for (const flags of [pid, user, mounts, 0x80n]) expect(answer(numbers["unshare"], flags)).to.equal("EPERM");
        const some = callFilter(arch, { mayUnshare: Number(pid) });
        expect(answer(numbers["unshare"], pid, some)).to.equal("allowed");
        for (const flags of [user, pid | user, mounts])
          expect(answer(numbers["unshare"], flags, some)).to.equal("EPERM");
      });

      it("leaves sockets of IPv4 and IPv6, pairs of unix sockets, and of netlink(7) what it says of routes", () => {
        const made = (call: "socket" | "socketpair", family: number, third = 0n) =>
          answerTo(program, { number: numbers[call] ?? -1, arch: auditArch[arch], flags: BigInt(family), third });
        const families = Array.from({ length: 256 }, (_, family) => family);
        const left = (call: "socket" | "socketpair") =>
          families
            .filter((family) => made(call, family) !== "EAFNOSUPPORT")
            .map((family) => [family, made(call, family)]);
        expect(left("socket")).to.deep.equal([2, 10, 16].map((family) => [family, "allowed"]));
        expect(left("socketpair")).to.deep.equal([[1, "allowed"]]);
        for (const protocol of [4n, 6n, 12n, 15n, 21n]) expect(made("socket", 16, protocol)).to.equal("EAFNOSUPPORT");
        for (const protocol of [6n, 17n, 132n]) expect(made("socket", 2, protocol)).to.equal("allowed");
      });

      it("refuses before Node starts what it could not do without once it has a ring, and no other call", () => {
        const before = callFilter(arch, { refused: ringCalls, mayUnshare: 0xffffffff });
        const refused = Object.keys(numbers).filter((name) => answer(numbers[name], 0n, before) === "EPERM");
        expect(refused.sort()).to.deep.equal(["io_uring_enter", "io_uring_register", "io_uring_setup"]);
        expect(answer(numbers["unshare"], 0x20000n, before)).to.equal("allowed");
      });

      it("lets who is to be alone start nothing but threads, and do nothing to others of its user", () => {
        const [own, other] = [4711n, 1n];
        const alone = callFilter(arch, { alone: Number(own) });
        const by = (call: string, flags: bigint, second = 0n) =>
          answerTo(alone, { number: numbers[call] ?? -1, arch: auditArch[arch], flags, second });
        const before: readonly string[] = [...refusedCalls, "unshare"];
        const refused = Object.keys(numbers).filter((name) => by(name, own | 0x10000n) === "EPERM");
        expect(refused.filter((name) => !before.includes(name)).sort()).to.deep.equal(
          [
            ...(arch === "x64" ? ["fork", "vfork"] : []),
            ...["ioprio_set", "migrate_pages", "pidfd_open", "pidfd_send_signal", "process_mrelease", "prlimit64"],
            ...["kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setpriority"],
            ...["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"],
          ].sort(),
        );
        for (const call of ["kill", "tgkill", "prlimit64"]) {
          expect(by(call, own), call).to.equal("allowed");
          for (const whom of [other, 0xffffffffn, -4711n & 0xffffffffn]) expect(by(call, whom), call).to.equal("EPERM");
        }
        expect(by("kill", 0n), "its group").to.equal("EPERM");
        expect(by("prlimit64", 0n), "its own limits").to.equal("allowed");
        expect(by("clone", 0x3d0f00n), "a thread").to.equal("allowed");
        for (const flags of [17n | 0x1200000n, 0x4111n, 0x3d0f00n | 0x8000n, 0x3d0f00n | 0x20000n])
          expect(by("clone", flags), flags.toString(16)).to.equal("EPERM");
        for (const second of [8n, 15n]) expect(by("fcntl", 0n, second)).to.equal("EPERM");
        for (const second of [0x8901n, 0x8902n]) expect(by("ioctl", 0n, second)).to.equal("EPERM");
        for (const call of ["fcntl", "ioctl"]) expect(by(call, 8n, 1n), call).to.equal("allowed");
        expect(by("socket", 1n), "what comes after").to.equal("EAFNOSUPPORT");
      });

      it("kills who calls by the numbers of another architecture, or of x32", () => {
        const other = auditArch[arch === "x64" ? "arm64" : "x64"];
        for (const by of [other, 0x40000003]) expect(answerTo(program, { number: 0, arch: by })).to.equal("killed");
        expect(answer(0x40000000 + (numbers["mount"] ?? 0))).to.equal("killed");
      });
    });
  }
});

describe("refuseCalls", () => {
  /** @param ofNothing how a filter fails that refuses nothing */
  const outcome = (error?: Error, ofNothing?: Error) => {
    const did: string[] = [];
    const filterCalls = (program: Buffer) => {
      did.push(`filter of ${program.length} bytes`);
      const fails = program.length === 8 ? ofNothing : error;
      if (fails !== undefined) throw fails;
    };
    try {
      refuseCalls({ gainNothing: () => void did.push("no new rights"), filterCalls }, {}, "x64");
      return did.join(", ");
    } catch (caught) {
      return caught instanceof VolumeError ? `${caught.reason}, ${caught.errorClass}: ${caught.message}` : `${caught}`;
    }
  };

  it("gives up new rights first, without which the kernel takes no filter of who is not root", () => {
    expect(outcome()).to.match(/^no new rights, filter of \d+ bytes$/);
  });

  it("fails, and says why, where the kernel has no filters or refuses one", () => {
    const [without, invalid] = [new Errno("seccomp", 38), new Errno("seccomp", 22)];
    for (const said of [outcome(without), outcome(invalid, invalid)])
      expect(said).to.match(
        /^SetUpFailed, final: .*CONFIG_SECCOMP_FILTER.*Use a kernel with it, or select other nodes for sets with image or git$/,
      );
    expect(outcome(new Errno("seccomp", 13))).to.match(
      /^SetUpFailed, final: the kernel refused .*EACCES.*select other nodes for sets with image or git$/,
    );
    expect(outcome(new Error("the thread 7 has a filter of its own"))).to.contain("the thread 7");
  });

  it("does not take a program that is wrong for a kernel without filters", () => {
    const invalid = new Errno("seccomp", 22);
    for (const ofNothing of [undefined, new Errno("seccomp", 12)])
      expect(outcome(invalid, ofNothing)).to.match(/^SetUpFailed, final: the kernel refused (?!.*CONFIG_).*EINVAL/);
  });

  it("is tried again where the kernel had no memory for it", () => {
    for (const errno of [11, 12])
      expect(outcome(new Errno("seccomp", errno))).to.match(/^SetUpFailed, transient: (?!.*CONFIG_).*(EAGAIN|ENOMEM)/);
  });
});

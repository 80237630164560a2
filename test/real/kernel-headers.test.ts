import { expect } from "chai";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { locateKernelHeaders } from "../../hack/lib/tools/kernel-headers.ts";
import { byArchitecture } from "../../src/host/linux/syscall/constants.ts";
import { actionsRoom, attributesRoom, signalSetBytes } from "../../src/host/linux/syscall/spawn-calls.ts";
import { need } from "../lib/asserts/requirements.ts";
import { differencesFrom } from "../lib/kernel/compare-with-headers.ts";
import { type Said, saidOf } from "../lib/kernel/header-names.ts";

/** Include/uapi of the kernel. */
const ofKernel = [
  ...["asm/errno.h", "asm/fcntl.h", "asm/poll.h", "asm/resource.h", "asm/sockios.h", "asm/unistd.h"],
  ...["audit", "capability", "dqblk_xfs", "eventpoll", "fanotify", "fcntl", "filter", "fs", "inotify"].map(inLinux),
  ...["kcmp", "loop", "memfd", "mount", "netlink", "nsfs", "openat2", "prctl", "quota", "sched"].map(inLinux),
  ...["seccomp", "stat", "wait"].map(inLinux),
];
/** Of the C library. */
const ofLibrary = [
  ...["errno.h", "fcntl.h", "signal.h", "spawn.h", "time.h"],
  ...["file", "mount", "resource", "socket"].map((name) => `sys/${name}.h`),
];

const architectures = Object.keys(byArchitecture) as (keyof typeof byArchitecture)[];

describe("numbers of the kernel's interface, beside its headers", () => {
  let root: string;
  const own = process.arch;

  before(async function () {
    this.timeout(600_000);
    need(this, "cc");
    const found = await locateKernelHeaders({ env: process.env, report: (line) => console.log(line) });
    if (typeof found !== "string") skipBecause(this, found.missing);
    root = found;
  });

  for (const arch of architectures) {
    it(`are right on ${arch}: system calls, flags, ioctls and structures`, () => {
      const { kernel } = saidOf(arch, own);
      expect(kernel.length).to.be.greaterThan(270);
      expect(differencesFrom(root, arch, ofKernel, kernel)).to.deep.equal([]);
    });

    it(`are right on ${arch}: what the C library has`, () => {
      const { library } = saidOf(arch, own);
      expect(library.length).to.be.greaterThan(20);
      expect(differencesFrom(root, arch, ofLibrary, [...library, ...rooms])).to.deep.equal([]);
    });
  }

  it("are found to be wrong where they are: those of the other architecture, and one that no header has", () => {
    const wrong = (arch: keyof typeof byArchitecture, name: string) =>
      differencesFrom(root, arch, ofKernel, saidOf(arch, arch).kernel).filter((line) =>
        line.includes(`"${name} is not`),
      );
    const other = own === "x64" ? "arm64" : "x64";
    for (const name of ["O.DIRECTORY", "O.NOFOLLOW"]) {
      expect(wrong(other, name), name).to.have.length(1); // this Node's, taken for the other's
      expect(wrong(own as "x64", name), name).to.deep.equal([]);
    }
    const none: Said = { name: "O.NONE", expression: "O_NONE", value: 1n };
    expect(differencesFrom(root, "arm64", ofKernel, [none]).join()).to.contain("O_NONE");
    const kcmp: Said = { name: "SYS.kcmp", expression: "__NR_kcmp", value: BigInt(byArchitecture.x64.kcmp) };
    expect(differencesFrom(root, "arm64", ofKernel, [kcmp]).join()).to.contain("SYS.kcmp is not 312");
  });
});

/**
 * Buffers of posix_spawn(3) are at least as large as what the C library keeps there; the set of signals is exactly so.
 */
const rooms: readonly Said[] = [
  { name: "attributesRoom", expression: `sizeof(posix_spawnattr_t) <= ${attributesRoom}`, value: 1n },
  { name: "actionsRoom", expression: `sizeof(posix_spawn_file_actions_t) <= ${actionsRoom}`, value: 1n },
  { name: "signalSetBytes", expression: "sizeof(sigset_t)", value: BigInt(signalSetBytes) },
];

function inLinux(name: string): string {
  return `linux/${name}.h`;
}

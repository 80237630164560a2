import { mkdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { AT_FDCWD, MOUNT_ATTR, O } from "../../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../../src/host/linux/syscall/descriptor.ts";
import type { Libc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { type KernelCalls, MS } from "../../sim/differential/kernel-calls.ts";
import type { SeededRandom } from "../../sim/random.ts";

/** Names that mountinfo has to escape, and some that it has not. */
const names = ["a", "b", "sp ace", "t\tab", "new\nline", "back\\slash", "#hash", "ünï-日本", "-", "deleted"];
const sources = ["tmpfs", "", "none", "a b", "x#y", "server:/export"];
const MOVE_MOUNT_BENEATH = 0x200;
const MNT_DETACH = 2;
const UNBINDABLE = 1 << 17;

/** What the kernel tells of an operation. */
export type Told =
  /** Which mounts it was about. */
  | "mounts"
  /** That something has changed. */
  | "change"
  /** Nothing. */
  | "nothing";

interface ChurnContext {
  readonly random: SeededRandom;
  readonly calls: KernelCalls;
  readonly libc: Libc;
  /** Beneath which everything happens. */
  readonly root: string;
  /** Mounts beneath it now to which their paths lead. */
  readonly mounts: readonly MountEntry[];
  /** Directories beneath it that were made and can be reached. */
  readonly directories: string[];
}

export interface ChurnOperation {
  readonly told: Told;
  /** Throws Errno, or what node:fs throws, if the kernel does not let it. */
  run(context: ChurnContext): void;
}

const anyMount = ({ random, mounts, root }: ChurnContext): string =>
  mounts.length === 0 ? root : random.pick(mounts).point;
const anyDirectory = ({ random, directories, root }: ChurnContext): string =>
  random.chance(0.1) || directories.length === 0 ? root : random.pick(directories);
const anywhere = (context: ChurnContext): string =>
  context.random.chance(0.3) ? anyMount(context) : anyDirectory(context);
/** Several of these at once, in any order. */
const flags = ({ random }: ChurnContext): number =>
  [
    MS.RDONLY,
    MS.NOSUID,
    MS.NODEV,
    MS.NOEXEC,
    MS.NODIRATIME,
    MS.NOSYMFOLLOW,
    random.pick([MS.NOATIME, MS.STRICTATIME, MS.RELATIME]),
  ]
    .filter(() => random.chance(0.4))
    .reduce((all, flag) => all | flag, 0);

/** What people, container runtimes and kubelet do to mount tables, and some that nobody does. */
export const churnOperations = {
  makeDirectory: {
    told: "nothing",
    run(context) {
      const path = `${anywhere(context)}/${context.random.pick(names)}`;
      mkdirSync(path);
      context.directories.push(path);
    },
  },
  mountTmpfs: {
    told: "mounts",
    run: (c) => c.calls.mount(c.random.pick(sources), anywhere(c), "tmpfs", flags(c) & ~MS.RDONLY),
  },
  mountTmpfsReadOnly: {
    told: "mounts",
    run: (c) => c.calls.mount("tmpfs", anywhere(c), "tmpfs", MS.RDONLY),
  },
  mountProc: { told: "mounts", run: (c) => c.calls.mount("proc", anywhere(c), "proc", flags(c)) },
  bind: { told: "mounts", run: (c) => c.calls.mount(anywhere(c), anywhere(c), "", MS.BIND) },
  bindTree: { told: "mounts", run: (c) => c.calls.mount(anywhere(c), anywhere(c), "", MS.BIND | MS.REC) },
  bindFile: {
    told: "mounts",
    run(c) {
      const directory = anyDirectory(c);
      for (const name of ["from", "on to"]) writeFileSync(`${directory}/${name}`, "");
      c.calls.mount(`${directory}/from`, `${directory}/on to`, "", MS.BIND);
    },
  },
  /** Whose root mountinfo shows in its own way. */
  bindNamespace: {
    told: "mounts",
    run(c) {
      const path = `${anyDirectory(c)}/net`;
      writeFileSync(path, "");
      c.calls.mount("/proc/self/ns/net", path, "", MS.BIND);
    },
  },
  move: { told: "mounts", run: (c) => c.calls.mount(anyMount(c), anywhere(c), "", MS.MOVE) },
  moveBeneath: {
    told: "mounts",
    run(c) {
      using tree = new Descriptor(c.libc.openTree(AT_FDCWD, anywhere(c), 1 | O.CLOEXEC));
      using on = new Descriptor(c.libc.openat2(AT_FDCWD, anyMount(c), O.PATH | O.CLOEXEC, 0, 0));
      c.libc.moveMount(tree.fd, on.fd, 0x44 | MOVE_MOUNT_BENEATH);
    },
  },
  unmount: { told: "mounts", run: (c) => c.calls.umount(anyMount(c), 0) },
  unmountAgain: { told: "mounts", run: (c) => c.calls.umount(anyMount(c), 0) },
  unmountTree: { told: "mounts", run: (c) => c.calls.umount(anyMount(c), MNT_DETACH) },
  removeMountPoint: { told: "mounts", run: (c) => rmdirSync(anyDirectory(c)) },
  remount: {
    told: "change",
    run: (c) => c.calls.mount("", anyMount(c), "", MS.REMOUNT | MS.BIND | flags(c)),
  },
  setAttributes: {
    told: "change",
    run(c) {
      using mount = new Descriptor(c.libc.openat2(AT_FDCWD, anyMount(c), O.PATH | O.CLOEXEC, 0, 0));
      c.libc.mountSetattr(mount.fd, c.random.pick([MOUNT_ATTR.NOSYMFOLLOW, MOUNT_ATTR.RDONLY, MOUNT_ATTR.NODEV]), 0, 0);
    },
  },
  remountFilesystem: {
    told: "change",
    run: (c) => c.calls.mount("", anyMount(c), "", MS.REMOUNT | (c.random.chance(0.2) ? MS.RDONLY : 0)),
  },
  changePropagation: {
    told: "nothing",
    run(c) {
      const type = c.random.pick([MS.SHARED, MS.SHARED, MS.PRIVATE, MS.SLAVE, UNBINDABLE]);
      c.calls.mount("", anyMount(c), "", type | (c.random.chance(0.3) ? MS.REC : 0));
    },
  },
  rename: {
    told: "nothing",
    run(c) {
      const from = anyDirectory(c);
      const to = `${anyDirectory(c)}/${c.random.pick(names)}`;
      if (isBeneath(to, from)) return;
      renameSync(from, to);
      c.directories.push(to);
    },
  },
  removeDirectory: { told: "nothing", run: (c) => rmdirSync(anyDirectory(c)) },
} as const satisfies { [name: string]: ChurnOperation };

export type ChurnName = keyof typeof churnOperations;
export const churnNames = Object.keys(churnOperations) as readonly ChurnName[];

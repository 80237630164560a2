import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { emulatedVariable, fullVariable } from "../../../hack/lib/lanes/lanes.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { vmRoot } from "../../../hack/lib/tools/vm-root.ts";
import { loadMountCalls } from "../../../src/host/linux/syscall/mount-calls.ts";
import { seLinuxEnabled } from "../../../src/host/linux/syscall/proc.ts";

/** What a test may need of the machine, with how to find out; the text says what is missing. */
const checks = {
  root: () => (process.getuid?.() === 0 ? undefined : "needs root"),
  "listed-namespaces": () => listsNamespaces(),
  statmount: () => tellsMounts(),
  vfork: () =>
    process.env[emulatedVariable] ? "QEMU's user mode copies a process where vfork(2) does not" : undefined,
  "loop-devices": () =>
    existsSync("/dev/loop-control") ? undefined : "needs loop devices: there is no /dev/loop-control",
  zram: () =>
    existsSync("/sys/class/zram-control/hot_add") ? undefined : "needs zram: there is no /sys/class/zram-control",
  fuse: () => (existsSync("/dev/fuse") ? undefined : "needs FUSE: there is no /dev/fuse"),
  selinux: () => (seLinuxEnabled() ? undefined : "the kernel has no SELinux"),
  "nfs-client": () => fileSystem("nfs4"),
  xfs: () => fileSystem("xfs"),
  hugetlbfs: () => fileSystem("hugetlbfs"),
  btrfs: () => fileSystem("btrfs"),
  ext4: () => fileSystem("ext4"),
  overlay: () => fileSystem("overlay"),
  "device-mapper": () => deviceMapper() ?? program("cryptsetup") ?? program("lvm"),
  cryptsetup: () => program("cryptsetup"),
  "mount.nfs": () => program("mount.nfs"),
  "mkfs.ext4": () => program("mkfs.ext4"),
  "mkfs.xfs": () => program("mkfs.xfs"),
  xfs_io: () => program("xfs_io"),
  "mkfs.btrfs": () => program("mkfs.btrfs"),
  cc: () => program("cc"),
  python3: () => program("python3"),
  openssl: () => program("openssl"),
  findmnt: () => program("findmnt"),
  git: () => program("git"),
  ssh: () => program("ssh"),
  vm: () => missingForVM(),
  "cifs-client": () => fileSystem("cifs"),
  "smb-server": () =>
    process.env["NODEVOLUME_SMB_SERVER"] ? undefined : "needs NODEVOLUME_SMB_SERVER= with a share a; test/vm makes one",
  "ceph-cluster": () =>
    process.env["NODEVOLUME_CEPH_ADDRESS"]
      ? undefined
      : "needs NODEVOLUME_CEPH_ADDRESS= with images; test/vm makes one",
  "nfs-export": () =>
    process.env["NODEVOLUME_NFS_EXPORT"] ? undefined : "needs NODEVOLUME_NFS_EXPORT=server:/path; test/vm makes one",
  "fc-target": () =>
    process.env["NODEVOLUME_FC_TARGETS"] ? undefined : "needs NODEVOLUME_FC_TARGETS=WWN...; test/vm makes a target",
  "iscsi-target": () =>
    process.env["NODEVOLUME_ISCSI_PORTAL"] ? undefined : "needs NODEVOLUME_ISCSI_PORTAL=; test/vm makes a target",
  full: () => (process.env[fullVariable] ? undefined : "only with --full"),
} as const satisfies { [name: string]: () => string | undefined };

export type Requirement = keyof typeof checks;

/** Skips the test, or from a before hook its suite, by name and with a reason, if the machine lacks something. */
export function need(context: Mocha.Context, ...requirements: Requirement[]): void {
  for (const requirement of requirements) {
    const missing = checks[requirement]();
    if (missing !== undefined) skipBecause(context, missing);
  }
}

/** Whether the long version of a test was asked for with --full. */
export function full(): boolean {
  return checks.full() === undefined;
}

/** The project's own needs QEMU and a kernel in its cache; one that VM= names is taken at its word. */
function missingForVM(): string | undefined {
  if (process.env["VM"]) return undefined;
  if (existsSync(join(vmRoot(process.env), "boot/vmlinux"))) return undefined;
  return "needs a kernel for QEMU: run hack/vm/vm.sh setup --storage, once, or set VM=";
}

/** Linux 6.12, in the machine's own PID namespace. */
function listsNamespaces(): string | undefined {
  const own = openSync("/proc/self/ns/mnt", "r");
  try {
    const next = loadMountCalls().namespaceBeside(own, "GET_NEXT");
    if (next !== undefined) closeSync(next);
    return undefined;
  } catch (error) {
    return `the kernel does not list mount namespaces here: ${error instanceof Error ? error.message : error}`;
  } finally {
    closeSync(own);
  }
}

/** Linux 6.8: by what it tells, a mount that has the number of an earlier one is known. */
function tellsMounts(): string | undefined {
  try {
    loadMountCalls().listmount(0n);
    return undefined;
  } catch (error) {
    return `the kernel tells of no mount by an id that is never used again: ${error instanceof Error ? error.message : error}`;
  }
}

function program(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, name))) ? undefined : `needs ${name}`;
}

function deviceMapper(): string | undefined {
  const known = () => / device-mapper$/m.test(readFileSync("/proc/misc", "utf8"));
  if (!known()) loadModule("dm_mod");
  return known() ? undefined : "the kernel has no device-mapper";
}

function loadModule(name: string): void {
  try {
    execFileSync("modprobe", [name], { stdio: "ignore" });
  } catch {
    // No such module, or no modprobe: what the kernel lists has the last word.
  }
}

/** A file system may be a module that is loaded only when it is first asked for. */
function fileSystem(name: string): string | undefined {
  const known = () => new RegExp(`\\t${name}$`, "m").test(readFileSync("/proc/filesystems", "utf8"));
  if (known()) return undefined;
  loadModule(name);
  return known() ? undefined : `the kernel has no ${name}`;
}

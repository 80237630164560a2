import * as fs from "node:fs";
import * as C from "../../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../../src/host/linux/syscall/descriptor.ts";
import type { Libc } from "../../../src/host/linux/syscall/libc.ts";
import { layout } from "../machine.ts";
import { type KernelCalls, MS } from "./kernel-calls.ts";
import type { RealKernel, RealNamespace } from "./real-kernel.ts";

const DETACH = C.UMOUNT.DETACH;
const AT_RECURSIVE = 0x8000;

/** The node's root directory, with what is there from the beginning. */
export function makeRoot(calls: KernelCalls, base: string): void {
  calls.mount("/dev/vda", base, "tmpfs", 0);
  fs.chmodSync(base, 0o755);
  calls.mount("none", base, "", MS.SHARED);
  for (const path of [layout.prefix, layout.stateDir, layout.csiDir, layout.podsDir, layout.sources, "/dev"]) {
    fs.mkdirSync(`${base}${path}`, { recursive: true, mode: 0o755 });
  }
}

/** As the DaemonSet's pod: see test/sim/kernel/agent-namespace.ts, which is to be the same. */
export function podNamespace({ calls, libc, base }: RealKernel): RealNamespace {
  const fd = calls.unshare();
  using root = detachedTmpfs(libc);
  using hostRoot = detachedTree(libc, base);
  using prefix = detachedTree(libc, `${base}${layout.prefix}`);
  using state = detachedTree(libc, `${base}${layout.stateDir}`);
  using csi = detachedTree(libc, `${base}${layout.csiDir}`);
  using pods = detachedTree(libc, `${base}${layout.podsDir}`);
  calls.mount("none", base, "", MS.PRIVATE);
  calls.umount(base, DETACH);
  const attach = (mount: Descriptor, path: string) => {
    fs.mkdirSync(path, { recursive: true, mode: 0o755 });
    using at = new Descriptor(libc.openat2(C.AT_FDCWD, path, C.O.PATH | C.O.CLOEXEC, 0, 0));
    libc.moveMount(mount.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  };
  attach(root, base);
  attach(hostRoot, `${base}/host`);
  calls.mount("none", `${base}/host`, "", MS.REC | MS.SLAVE);
  attach(prefix, `${base}${layout.prefix}`);
  attach(state, `${base}${layout.stateDir}`);
  attach(csi, `${base}${layout.csiDir}`);
  attach(pods, `${base}${layout.podsDir}`);
  return { fd, table: calls.openTable() };
}

/** Leaves nothing of the node but one directory of it, on /data. */
export function showOnly({ calls, libc, base }: RealKernel, path: string): void {
  using root = new Descriptor(libc.openat2(C.AT_FDCWD, base, C.O.PATH | C.O.CLOEXEC, 0, 0));
  using found = new Descriptor(libc.openat2(root.fd, path, C.O.PATH | C.O.CLOEXEC, 0, C.RESOLVE.IN_ROOT));
  using clone = new Descriptor(libc.openTree(found.fd, "", C.AT_EMPTY_PATH | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC));
  calls.umount(base, DETACH);
  calls.mount("overlay", base, "tmpfs", 0);
  fs.chmodSync(base, 0o755);
  fs.mkdirSync(`${base}/data`);
  using at = new Descriptor(libc.openat2(C.AT_FDCWD, `${base}/data`, C.O.PATH | C.O.CLOEXEC, 0, 0));
  libc.moveMount(clone.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
}

function detachedTree(libc: Libc, path: string): Descriptor {
  return new Descriptor(libc.openTree(C.AT_FDCWD, path, AT_RECURSIVE | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC));
}

function detachedTmpfs(libc: Libc): Descriptor {
  using context = new Descriptor(libc.fsopen("tmpfs", C.FSOPEN_CLOEXEC));
  libc.fsconfig(context.fd, C.FSCONFIG.SET_STRING, "source", "overlay");
  libc.fsconfig(context.fd, C.FSCONFIG.SET_STRING, "mode", "755");
  libc.fsconfig(context.fd, C.FSCONFIG.CMD_CREATE, null, null);
  return new Descriptor(libc.fsmount(context.fd, C.FSMOUNT_CLOEXEC, 0));
}

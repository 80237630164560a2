import { chownSync, lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as C from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { memoryMount } from "./memory-mount.ts";

/** Where programs and their libraries are. */
export const programs = ["usr", "bin", "sbin", "lib", "lib32", "lib64"];

/** What programs need to find a server and to check its certificate. Nothing else of the node's settings is there. */
const settings = [
  ...["resolv.conf", "hosts", "nsswitch.conf", "host.conf", "gai.conf", "ld.so.cache"],
  ...["ssl", "pki", "ca-certificates"],
];

const devices = ["null", "urandom"];

const neither = C.MOUNT_ATTR.NOSUID | C.MOUNT_ATTR.NODEV | C.MOUNT_ATTR.NOEXEC;

/** What is in a sandbox beside programs and settings. */
interface SandboxContents {
  /** Directories of ours that are written to, by where they are shown. */
  readonly written: ReadonlyMap<string, string>;
  /**
   * Written into the new root, by their paths there: in memory, gone with the sandbox, for `owner` alone to read.
   */
  readonly files?: ReadonlyMap<string, string>;
  readonly owner?: number;
  /** Files and directories of this process's root, at the same paths. */
  readonly shown?: readonly string[];
  /** Held directories, without what is mounted in them, by where they are shown. */
  readonly held?: ReadonlyMap<string, Descriptor>;
}

/**
 * Leaves the node's file tree for good: from here on this thread, and what it starts, sees the programs and settings
 * above, read-only, and what the contents name. No other mount is in its namespace, so it holds no volume. Objects of
 * System V and the node's name are those of namespaces of its own. Threads of Node's pool stay where they are until
 * this process executes a program: before that, only synchronous calls of node:fs are of use. What was opened before
 * stays open.
 *
 * @param path a directory of ours where the new root is mounted, as it needs a place
 */
export function enterSandbox(
  libc: Libc,
  calls: SandboxCalls,
  path: string,
  { written, files = new Map(), owner = 0, shown = [], held = new Map() }: SandboxContents,
): void {
  process.umask(0o022);
  writeFileSync("/proc/self/oom_score_adj", "1000"); // when memory runs out, it goes before the agent
  const readOnly = (directory: Descriptor) =>
    cloneOf(libc, directory.fd, "", C.AT_EMPTY_PATH, C.MOUNT_ATTR.RDONLY | neither);
  const mounts = [...held].map(([to, directory]) => [to, readOnly(directory)] as [string, Descriptor]); // from here
  calls.unshare(C.CLONE_NEWNS | C.CLONE.NEWIPC | C.CLONE.NEWUTS);
  using place = open(libc, path);
  using old = open(libc, "/");
  libc.mountSetattr(old.fd, 0, 0, C.MS.PRIVATE, C.AT_RECURSIVE);
  for (const [to, directory] of written) mounts.push([to, clone(libc, directory, neither)]);
  using root = memoryMount(libc, path, "sandbox", ["mode=0755", "size=1M"]);
  libc.moveMount(root.fd, place.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  for (const name of programs) show(libc, `/${name}`, `${path}/${name}`, C.MOUNT_ATTR.NODEV);
  mkdirSync(`${path}/etc`, 0o755);
  for (const name of settings) show(libc, `/etc/${name}`, `${path}/etc/${name}`, C.MOUNT_ATTR.NODEV);
  mkdirSync(`${path}/dev`, 0o755);
  for (const name of devices) show(libc, `/dev/${name}`, `${path}/dev/${name}`, 0);
  for (const one of shown) show(libc, one, `${path}${one}`, C.MOUNT_ATTR.NODEV);
  for (const [to, mount] of mounts) {
    mkdirSync(`${path}${to}`, { recursive: true, mode: 0o755 });
    attach(libc, mount, `${path}${to}`);
    mount[Symbol.dispose]();
  }
  for (const [name, content] of files) {
    mkdirSync(dirname(`${path}${name}`), { recursive: true, mode: 0o755 });
    writeFileSync(`${path}${name}`, content, { mode: 0o400, flag: "wx" });
    chownSync(`${path}${name}`, owner, owner);
  }
  libc.mountSetattr(root.fd, C.MOUNT_ATTR.RDONLY, 0, 0);
  process.chdir(path);
  calls.pivotRoot(".", ".");
  libc.umount2(".", C.UMOUNT.DETACH); // the old root, which now lies over the new one
  process.chdir("/");
}

/** Shows a file or directory of the node, read-only; a link as one where it leads to what is shown, else its target. */
function show(libc: Libc, from: string, to: string, attributes: number): void {
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const link = stat.isSymbolicLink() ? readlinkSync(from) : undefined;
  if (link !== undefined && /^\/?usr\//.test(link)) {
    symlinkSync(link, to);
    return;
  }
  const all = C.MOUNT_ATTR.RDONLY | C.MOUNT_ATTR.NOSUID | attributes;
  const source = unlessErrno(["ENOENT"], () => clone(libc, from, all));
  if (source === undefined) return; // a link to nothing
  using mount = source;
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  if ((libc.statx(mount.fd, "", C.AT_EMPTY_PATH).mode & C.S_IFMT) === 0o040000) mkdirSync(to, 0o755);
  else writeFileSync(to, "");
  attach(libc, mount, to);
}

/** What is at a path with all that is mounted in it, as a mount of its own that is nowhere yet. */
function clone(libc: Libc, path: string, attributes: number): Descriptor {
  return cloneOf(libc, C.AT_FDCWD, path, C.AT_RECURSIVE, attributes);
}

function cloneOf(libc: Libc, from: number, path: string, how: number, attributes: number): Descriptor {
  const mount = new Descriptor(libc.openTree(from, path, C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC | how));
  libc.mountSetattr(mount.fd, attributes, 0, C.MS.PRIVATE, C.AT_RECURSIVE);
  return mount;
}

function attach(libc: Libc, mount: Descriptor, path: string): void {
  using at = open(libc, path);
  libc.moveMount(mount.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
}

function open(libc: Libc, path: string): Descriptor {
  return new Descriptor(libc.openat2(C.AT_FDCWD, path, C.O.PATH | C.O.NOFOLLOW | C.O.CLOEXEC, 0, 0));
}

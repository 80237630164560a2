import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { ISCSIInterface } from "../../ports/iscsi.ts";
import { memoryMount } from "../mount/memory-mount.ts";
import * as C from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { ifThere } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { interfaceLines, recordText, type Settings, withSettings } from "./iscsi-records.ts";

/** Where distributions have open-iscsi's records: nodes, ifaces and send_targets. The first has its settings, too. */
const places = ["/etc/iscsi", "/var/lib/iscsi"];

/**
 * Goes into the node's mount namespace, and there into a copy of it in which open-iscsi's database is empty and in
 * memory. What iscsiadm writes there, passwords too, nobody else sees, it overwrites nobody's records, and it is gone
 * with this process. iscsid does not need it: it is told everything at login, and after a restart has it from the
 * kernel.
 * @param nodeProcess a process in the node's mount namespace, if this one is not in it
 */
export function enterOwnDatabase(libc: Libc, calls: SandboxCalls, nodeProcess: number | undefined): void {
  // Also makes root and working directory this thread's own, without which it may not go elsewhere.
  calls.unshare(C.CLONE_NEWNS);
  if (nodeProcess !== undefined) {
    using namespace = openPath(libc, `/proc/${nodeProcess}/ns/mnt`, C.O.RDONLY);
    calls.setns(namespace.fd, C.CLONE_NEWNS);
    calls.unshare(C.CLONE_NEWNS);
  }
  using root = openPath(libc, "/", C.O.PATH);
  libc.mountSetattr(root.fd, 0, 0, C.MS.PRIVATE, C.AT_RECURSIVE);
}

/**
 * Covers the node's records.
 * @param made the only interface that there is then, and what of the node's it is like
 * @returns the devices of what covers them
 */
export function coverDatabase(libc: Libc, made: string, like: readonly string[]): number[] {
  return places
    .filter((path) => existsSync(path))
    .map((place) => {
      const settings = filesIn(place);
      using at = openPath(libc, place, C.O.PATH);
      using memory = memoryMount(libc, place, "nodevolume-iscsi", ["mode=0700", "size=4M"]);
      libc.moveMount(memory.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
      for (const [name, bytes] of settings) writeFileSync(`${place}/${name}`, bytes, { mode: 0o600 });
      for (const name of ["nodes", "ifaces", "send_targets"]) mkdirSync(`${place}/${name}`, { mode: 0o700 });
      writeFileSync(`${place}/ifaces/${made}`, recordText([`iface.iscsi_ifacename = ${made}`, ...like]), {
        mode: 0o600,
      });
      return statSync(place).dev;
    });
}

/** Interfaces that open-iscsi has without a record. */
const builtIn: { readonly [name: string]: readonly string[] } = {
  default: ["iface.transport_name = tcp"],
  iser: ["iface.transport_name = iser"],
};

/** The settings of the node's own record of an interface; undefined if it has none. Read before coverDatabase(). */
export function likeInterface({ like, initiatorName }: Pick<ISCSIInterface, "like" | "initiatorName">) {
  const record = places.map((place) => ifThere(() => readFileSync(`${place}/ifaces/${like}`, "utf8"))).find(Boolean);
  const lines = record === undefined ? builtIn[like] : interfaceLines(record);
  if (lines === undefined) return undefined;
  if (initiatorName === undefined) return lines;
  const others = lines.filter((line) => !line.startsWith("iface.initiatorname "));
  return [...others, `iface.initiatorname = ${initiatorName}`];
}

/**
 * Changes the one record that is beneath a directory of the database, whatever it is called there.
 * @param covered devices of what covers the node's records: nothing is written to any other
 * @returns whether it is in memory; else nothing is written, as it would stay
 */
export function changeRecord(kind: "nodes" | "send_targets", settings: Settings, covered: readonly number[]): boolean {
  const files = places.flatMap((place) => filesBeneath(`${place}/${kind}`));
  const [file] = files;
  if (files.length > 1) throw new Error(`iscsiadm has made ${files.length} records, not one`);
  if (file === undefined) return false;
  const fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (!covered.includes(fstatSync(fd).dev)) return false;
    const text = withSettings(readFileSync(fd, "utf8"), settings);
    ftruncateSync(fd);
    writeSync(fd, text, 0);
    return true;
  } finally {
    closeSync(fd);
  }
}

function filesBeneath(directory: string): string[] {
  return (ifThere(() => readdirSync(directory, { recursive: true, encoding: "utf8" })) ?? [])
    .map((name) => `${directory}/${name}`)
    .filter((path) => lstatSync(path).isFile());
}

function filesIn(directory: string): [string, Buffer][] {
  const names = readdirSync(directory).filter((name) => lstatSync(`${directory}/${name}`).isFile());
  return names.map((name) => [name, readFileSync(`${directory}/${name}`)]);
}

function openPath(libc: Libc, path: string, flags: number): Descriptor {
  return new Descriptor(libc.openat2(C.AT_FDCWD, path, flags | C.O.CLOEXEC, 0, 0));
}

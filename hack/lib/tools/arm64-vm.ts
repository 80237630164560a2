// What boots a virtual machine with an arm64 processor: QEMU, Debian's newest kernel for clouds, and the few programs
// that its first process starts. The kernel calls that QEMU's user mode lacks are tried there.
import { globSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { locateArm64Node } from "./arm64-node.ts";
import type { LocateOptions } from "./cache.ts";
import { mergeUsr } from "./debian.ts";
import { locateUnpacked } from "./unpacked.ts";

const suite = "trixie-backports";
/**
 * The kernel without its modules, which has no name without its version: what the newest image for clouds needs, by
 * apt's patterns.
 */
const kernel =
  "?and(?name(^linux-binary-[0-9]),?reverse-depends(?reverse-depends(?exact-name(linux-image-cloud-arm64))))";
const programs = ["busybox-static", "mount", "util-linux", "libmount1", "libblkid1", "libsmartcols1", "libselinux1"];
const libraries = ["libpcre2-8-0", "libuuid1", "libcap-ng0", "libtinfo6"];

export interface Arm64VM {
  /** A command of this machine: QEMU with its own libraries. */
  readonly qemu: readonly string[];
  readonly kernel: string;
  /** A command of this machine: busybox of the guest, emulated. */
  readonly busybox: readonly string[];
  /** Folders that the guest's root directory is made of. */
  readonly folders: readonly string[];
}

/** @returns what the machine lacks, if it cannot be had */
export async function locateArm64VM(options: LocateOptions): Promise<Arm64VM | { readonly missing: string }> {
  const node = await locateArm64Node(options);
  if (typeof node !== "string") return node;
  const qemuPackages = { closureOf: ["qemu-system-arm"], whole: true } as const;
  const program = "usr/bin/qemu-system-aarch64";
  const merged = async (out: string) => mergeUsr(out);
  const qemu = await locateUnpacked(
    { name: "qemu-system-arm", packages: qemuPackages, has: program, after: merged },
    options,
  );
  if (typeof qemu !== "string") return qemu;
  const names = [kernel, ...[...programs, ...libraries].map((name) => `${name}:arm64`)];
  const guestPackages = { names, suite, architectures: ["amd64", "arm64"] };
  const after = async (out: string) => {
    for (const folder of ["usr/share", "etc", "var"]) rmSync(join(out, folder), { recursive: true, force: true });
  };
  const guest = await locateUnpacked(
    { name: "arm64-guest", packages: guestPackages, has: "bin/busybox", after },
    options,
  );
  if (typeof guest !== "string") return guest;
  const emulator = dirname(node);
  const libraryPath = join(qemu, "usr/lib/x86_64-linux-gnu");
  return {
    qemu: [join(qemu, "lib64/ld-linux-x86-64.so.2"), "--library-path", libraryPath, join(qemu, program)],
    kernel: globSync(join(guest, "usr/lib/modules/*/vmlinuz"))[0] ?? "",
    busybox: [join(emulator, "usr/bin/qemu-aarch64"), join(guest, "bin/busybox")],
    folders: [emulator, guest],
  };
}

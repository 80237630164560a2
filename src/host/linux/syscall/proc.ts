import { readFileSync } from "node:fs";
import { type MountEntry, parseMountinfo } from "../../mount-table/mountinfo.ts";
import type { Descriptor } from "./descriptor.ts";

/** The id of the mount that a descriptor is in, as mountinfo has it, without a question to its file system. */
export function mountIDOf({ fd }: Descriptor): number {
  return Number(/^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1] ?? -1);
}

/** The mounts that this process sees, as text: for who looks once. What is kept is asked by MountTableSource. */
export function readOwnMountinfo(): Buffer {
  return readFileSync("/proc/self/mountinfo");
}

/** The same, parsed. */
export function ownMounts(): MountEntry[] {
  return parseMountinfo(readOwnMountinfo().toString("utf8"));
}

/** Another one after each boot of the machine. */
export function bootID(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/** Whether the kernel labels files by SELinux: file systems can be mounted with a label. It stays so while it runs. */
export function seLinuxEnabled(): boolean {
  return isEnabled({ filesystems: read("/proc/filesystems"), label: read("/proc/self/attr/current") });
}

/**
 * A kernel that has SELinux off does not know its file system, and before a policy is loaded everything has one label
 * (go-selinux: getEnabled).
 */
export function isEnabled({ filesystems, label }: { readonly filesystems: string; readonly label: string }): boolean {
  return /\tselinuxfs$/m.test(filesystems) && label.replace(/\0$/, "") !== "kernel";
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // no such file, or no security module that answers
  }
}

import { readFileSync } from "node:fs";

/**
 * Whether the kernel labels files by SELinux, so that a file system can be mounted with a label. It does not change
 * while it runs.
 */
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

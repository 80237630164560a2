import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { MountAttributes } from "../../host/ports/types.ts";

/** Flags of a mount as the kernel writes them. strictatime is what it calls neither noatime nor relatime. */
export function mountAttributes(mount: MountEntry): MountAttributes {
  const has = (option: string) => mount.options.includes(option);
  return {
    readOnly: has("ro"),
    nosuid: has("nosuid"),
    nodev: has("nodev"),
    noexec: has("noexec"),
    nosymfollow: has("nosymfollow"),
    nodiratime: has("nodiratime"),
    atime: has("noatime") ? "noatime" : has("relatime") ? "relatime" : "strictatime",
  };
}

/** Names of the flags in which two sets differ, as `-o` options of the first: what is there instead. */
export function attributeDifference(shown: MountAttributes, wanted: MountAttributes): string[] {
  const keys = Object.keys(wanted) as (keyof MountAttributes)[];
  return keys
    .filter((key) => shown[key] !== wanted[key])
    .map((key) => (key === "atime" ? shown.atime : optionName(key, shown[key] === true)));
}

function optionName(key: Exclude<keyof MountAttributes, "atime">, set: boolean): string {
  if (key === "readOnly") return set ? "ro" : "rw";
  return set ? key : key.replace(/^no/, "");
}

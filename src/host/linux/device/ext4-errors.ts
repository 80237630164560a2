import { realpathSync } from "node:fs";
import { basename } from "node:path";
import type { FileSystemErrors } from "../../ports/servers.ts";
import { attribute } from "../syscall/device-identity.ts";
import { ifThere } from "../syscall/if-there.ts";

/** What ext4 calls the errors that it has met (fs/ext4/ext4.h: EXT4_ERR_…), of those that say something to people. */
const names: ReadonlyMap<string, string> = new Map([
  ["2", "EIO"],
  ["4", "EFSBADCRC"],
  ["5", "EFSCORRUPTED"],
  ["6", "ENOSPC"],
  ["8", "EROFS"],
]);

/**
 * Errors that the kernel has met in an ext2, ext3 or ext4 by its driver ext4, by sysfs alone. They stand in its
 * superblock, too, until e2fsck has looked through it.
 * @param sys /sys, or a made tree
 * @param deviceNumber `major:minor`
 */
export function ext4Errors(sys: string, deviceNumber: string): FileSystemErrors | undefined {
  const device = ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
  if (device === undefined) return undefined;
  const of = (name: string) => attribute(`${sys}/fs/ext4/${basename(device)}/${name}`);
  const count = Number(of("errors_count"));
  if (!(count > 0)) return undefined;
  const code = of("last_error_errcode");
  return { count, code: names.get(code) ?? `error ${code}`, where: of("last_error_func") };
}

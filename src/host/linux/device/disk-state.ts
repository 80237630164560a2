import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { FileSystemErrors, ServerAnswer } from "../../ports/servers.ts";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";

/** States of SCSI disks and NVMe controllers in which requests are answered; "" is of devices that have none. */
const working = new Set(["", "running", "created", "quiesce", "live", "new"]);
/** Those in which requests wait for the target. */
const waiting = new Set(["blocked", "created-blocked", "resetting", "connecting"]);

const answers: ServerAnswer = { answers: true };

/**
 * Whether a disk works, by sysfs alone. What device-mapper has made of others works as long as one of them does.
 * @param sys /sys, or a made tree
 * @param deviceNumber `major:minor`
 */
export function diskAnswer(sys: string, deviceNumber: string): ServerAnswer {
  const self = ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
  if (self === undefined) return { answers: false, said: "it is not on the node any more" };
  const disk = existsSync(`${self}/partition`) ? dirname(self) : self;
  const beneath = ifThere(() => readdirSync(`${disk}/slaves`)) ?? [];
  const all = beneath.map((name) => diskAnswer(sys, attribute(`${disk}/slaves/${name}/dev`)));
  const first = all.find((answer) => answer.answers) ?? all[0];
  if (first !== undefined) return first;
  const state = attribute(`${disk}/device/state`);
  if (working.has(state)) return answers;
  return waiting.has(state) ? { answers: false } : { answers: false, said: state };
}

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

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { deviceBeneath } from "./loop-backing.ts";

/** A device that another is a part of, or is made of. */
export interface DeviceBeneath {
  /** The kernel's name. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  /** Its directory in sysfs. */
  readonly place: string;
}

/** Where layers of devices are looked for. */
export interface LayerSources {
  /** /sys, or a made tree */
  readonly sys: string;
  /** What a loop device of this name is made of (`major:minor`), if that is a block device. */
  readonly beneathLoop?: (name: string) => string | undefined;
}

/**
 * Every device beneath one, each once, the nearest first: of a partition its disk, of what device-mapper or RAID has
 * made (a logical volume, LUKS, a multipath map) its members, of a loop device the block device that it is made of, and
 * all that those are made of. None if the kernel has no such device.
 */
export function devicesBeneath(deviceNumber: string, sources: LayerSources): readonly DeviceBeneath[] {
  const found = new Map<string, DeviceBeneath>();
  for (let next = rightBeneath(deviceNumber, sources); next.length > 0; ) {
    const news = next.filter((number) => !found.has(number));
    for (const number of news) {
      const place = placeOf(number, sources);
      if (place !== undefined) found.set(number, { name: basename(place), deviceNumber: number, place });
    }
    next = news.filter((number) => found.has(number)).flatMap((number) => rightBeneath(number, sources));
  }
  return [...found.values()];
}

/** The directory of a device in sysfs; undefined if the kernel has none. */
export function placeOf(deviceNumber: string, { sys }: Pick<LayerSources, "sys">): string | undefined {
  return ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
}

function rightBeneath(deviceNumber: string, sources: LayerSources): readonly string[] {
  const place = placeOf(deviceNumber, sources);
  if (place === undefined) return [];
  const { beneathLoop = (name: string) => deviceBeneath(`/dev/${name}`) } = sources;
  const members = (ifThere(() => readdirSync(`${place}/slaves`)) ?? []).map((name) => `${place}/slaves/${name}`);
  const whole = existsSync(`${place}/partition`) ? [dirname(place)] : members;
  const loop = existsSync(`${place}/loop/backing_file`) ? beneathLoop(basename(place)) : undefined;
  return [...whole.map((at) => attribute(`${at}/dev`)), loop ?? ""].filter((number) => number !== "");
}

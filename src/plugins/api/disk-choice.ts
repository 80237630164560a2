import { diskName, overlap, wholeDisk } from "../../api/disk-name.ts";
import type { DiskSelector } from "../../api/types.gen.ts";
import { listed } from "../../api/values/listed.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";

/** The disk of a volume, as it is known again: in the journal before anything is written to it or mounted of it. */
export interface ChosenDisk {
  /** The name that it keeps for life, if it has one. */
  readonly lastingName?: string;
  readonly sizeBytes: number;
  /** What tells it from others in this boot. */
  readonly identity?: string;
  /** Of the file system that is on it: how it is known where it has no name. */
  readonly uuid?: string;
  /** KnownDisk.shared */
  readonly shared?: true;
}

/** What tells a disk, or a partition, from others. */
export interface KnownDisk extends Pick<Disk, "name" | "sizeBytes" | "identity" | "lastingName"> {
  /** People have said where it is: another volume's disk that is only alike is another one. */
  readonly named?: true;
  /** It is handed out as it is: others may have it, too. */
  readonly shared?: true;
  /** DeviceInfo.endsWithBoot: what was on it tells nothing in the next one. */
  readonly endsWithBoot?: true;
}

/** What a look at a disk has shown; a text says why it cannot be had. */
export type Look = Pick<DeviceInfo, "empty" | "signature" | "uuid" | "label" | "busy" | "allowsMount"> | string;

/** PURE. */
export function chosenOf(disk: KnownDisk, uuid: string | undefined): ChosenDisk {
  const { lastingName, identity, sizeBytes, shared, endsWithBoot } = disk;
  return {
    sizeBytes,
    ...(lastingName !== undefined && { lastingName }),
    ...(identity !== undefined && { identity }),
    ...(uuid !== undefined && endsWithBoot !== true && { uuid }),
    ...(shared !== undefined && { shared }),
  };
}

/** PURE. Whether two records are of one disk, which may have grown between them. */
export function isSameDisk(a: ChosenDisk, b: ChosenDisk): boolean {
  if (a.identity !== undefined && a.identity === b.identity) return true;
  if (a.lastingName !== b.lastingName) return false;
  if (a.lastingName !== undefined) return true;
  return a.uuid !== undefined && a.uuid === b.uuid;
}

/** PURE. Whether a disk that people have named is the one that another volume has: copies of a file system are not. */
export function isOneDisk(a: ChosenDisk, b: ChosenDisk): boolean {
  if (a.shared === true || b.shared === true) return false;
  if (a.identity !== undefined && a.identity === b.identity) return true;
  // Serial numbers of cheap adapters are all the same.
  const [x, y] = [a, b].map(({ lastingName }) => lastingName && diskName(lastingName));
  return x !== undefined && x === y;
}

/**
 * PURE. Whether what is found now is another disk than the one on record. Of disks without a name of their own only
 * what is on them tells, after a reboot: one that has nothing any more is not taken for it, as it would be formatted.
 */
export function isOtherDisk(before: ChosenDisk, now: ChosenDisk): boolean {
  if (before.identity !== undefined && before.identity === now.identity) return false;
  const told = isOtherName(before.lastingName, now.lastingName);
  return told ?? (before.uuid !== undefined && before.uuid !== now.uuid);
}

/**
 * PURE. Whether two names are of two disks; undefined if they do not tell. A map that multipathd has made of a path
 * since is the same disk.
 */
function isOtherName(before: string | undefined, now: string | undefined): boolean | undefined {
  if (before === undefined || now === undefined) return undefined;
  const [x, y] = [diskName(before), diskName(now)];
  if (x === undefined || y === undefined) return before !== now;
  if (x === y) return false;
  const partitions = x !== wholeDisk(x) && y !== wholeDisk(y);
  return partitions && overlap(x, y) ? undefined : true;
}

/** PURE. Whether all that is asked of a disk holds, as far as it shows without a look at what is on it. */
export function matches(asked: DiskSelector, disk: Disk): boolean {
  const { byID, wwid, serial, model, minSize, maxSize, rotational, transport } = asked;
  const size = BigInt(disk.sizeBytes);
  return (
    (byID === undefined || disk.ids.includes(byID)) &&
    (wwid === undefined || disk.wwid === wwid) &&
    (serial === undefined || disk.serial === serial) &&
    (model === undefined || disk.model === model) &&
    (minSize === undefined || size >= quantityBytes(minSize)) &&
    (maxSize === undefined || size <= quantityBytes(maxSize)) &&
    (rotational === undefined || disk.rotational === rotational) &&
    (transport === undefined ? disk.transport !== "loop" : disk.transport === transport)
  );
}

/** PURE. Why a disk that matches otherwise cannot be had; undefined if it can. */
export function refusalOf(asked: DiskSelector, look: Look): string | undefined {
  if (typeof look === "string") return look;
  const keeps = look.signature !== undefined && asked.empty !== true; // it may be mounted beside who only reads it
  if (look.busy !== undefined && !(keeps && look.allowsMount === true)) return look.busy;
  if (asked.label !== undefined && asked.label !== look.label) {
    return look.label === undefined ? "it has no label" : `its label is ${look.label}`;
  }
  if (asked.empty === undefined || asked.empty === look.empty) return undefined;
  return look.empty ? "it is empty" : `it is not empty: ${look.signature ?? "data without a signature"}`;
}

/** PURE. What tells a disk from those that come later; undefined if nothing does. */
export function seenName({ lastingName, identity }: Disk): string | undefined {
  return lastingName ?? identity;
}

/**
 * PURE. Why a disk that matches, and that nobody has open, is not taken; undefined if nothing is against it. Of one
 * that another driver has just attached, for a volume that was never written, nothing tells that it is somebody's:
 * emptiness is no reason to take a disk, unless it is named, or was there when the volume was first looked for.
 * @param look.seen names of the disks that were there then (seenName)
 */
export function strangeReason(
  asked: DiskSelector,
  disk: Disk,
  { empty, seen }: { readonly empty: boolean; readonly seen: readonly string[] },
): string | undefined {
  if (isNamed(asked)) return undefined;
  const { attached } = disk;
  if (asked.label !== undefined && attached !== undefined) {
    return `it is attached by ${attached}, and who can write to it may give it any label: name it by byID, wwid or serial`;
  }
  if (!empty) return undefined;
  const remedy = "name it by byID, wwid or serial if it is meant";
  if (saysOnlyEmpty(asked)) return `an empty disk is not necessarily the intended one: ${remedy}`;
  if (attached !== undefined) return `it is empty, and attached by ${attached}: ${remedy}`;
  const name = seenName(disk);
  if (name !== undefined && seen.includes(name)) return undefined;
  return `it is empty, and was not there when the volume was first looked for, so that another driver may have attached it: ${remedy}`;
}

/** PURE. Whether a selector says which disk it means, and not only what it is like. */
export function isNamed({ byID, wwid, serial }: DiskSelector): boolean {
  return [byID, wwid, serial].some((name) => name !== undefined);
}

function saysOnlyEmpty(asked: DiskSelector): boolean {
  return Object.entries(asked).every(([name, value]) => name === "empty" || value === undefined);
}

/** PURE. What is asked, as people wrote it. */
export function askedText(asked: DiskSelector): string {
  return Object.entries(asked)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
}

/** A message is for people: that many disks stand in it. */
const most = 8;

/** PURE. Disks for a message, each with why it is not taken, if that is known. */
export function disksText(disks: readonly Disk[], why: (disk: Disk) => string | undefined): string {
  const texts = disks.map((disk) => {
    const { name, sizeBytes, serial, wwid, transport } = disk;
    const known = wwid ?? (serial === undefined ? undefined : `serial ${serial}`);
    const reason = why(disk);
    return `${name} (${sizeBytes} bytes, ${transport}${known === undefined ? "" : `, ${known}`}${reason === undefined ? "" : `; ${reason}`})`;
  });
  return listed(texts, most);
}

/**
 * PURE. How a device and what is on it are named in destroyAllDataOnDevices: other contents, and so those that it has
 * after it was formatted, have another name. Undefined where nothing but zeros was found.
 */
export function contentsName(disk: Disk | undefined, device: DeviceInfo): string | undefined {
  if (device.contents === undefined) return undefined;
  const name = (disk?.lastingName ?? device.deviceNumber).replace(/[\s@]+/g, "_");
  return `${name}@${device.contents}`;
}

import type { DiskSelector } from "../../api/types.gen.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo, SourcePath } from "../../host/ports/host-ports.ts";
import { attachedReason } from "../api/attached-volume.ts";
import {
  askedText,
  type ChosenDisk,
  chosenOf,
  disksText,
  isNamed,
  isSameDisk,
  type Look,
  matches,
  refusalOf,
  seenName,
  strangeReason,
} from "../api/disk-choice.ts";
import type { StageContext } from "../api/volume-plugin.ts";
import { askAttached } from "./attached-disk.ts";

/**
 * Of the node's disks the one that a volume has; else the only one that matches.
 * @throws VolumeError DiskNotFound, DiskAmbiguous
 */
export async function diskOfVolume(asked: DiskSelector, context: StageContext): Promise<Disk> {
  const disks = await context.devices.disks(context.hostRoot);
  const { disk: chosen } = context;
  if (chosen === undefined) return chooseDisk(asked, disks, context);
  const [only, ...more] = await findDisks(chosen, disks, context);
  if (only !== undefined && more.length === 0) return only;
  if (only !== undefined) throw copied(chosen, [only, ...more]);
  // Nothing tells which one it was, and nobody has had it: its file system would be on record, and a raw one has a
  // name.
  if (chosen.lastingName === undefined && chosen.uuid === undefined) return chooseDisk(asked, disks, context);
  throw missing(chosen, disks);
}

/** Where a disk's node is. */
export function nodeOf({ name }: Pick<Disk, "name">, { hostRoot }: Pick<StageContext, "hostRoot">): SourcePath {
  return { root: hostRoot, path: `/dev/${name}` };
}

/** The disk that is on record, wherever it is now. */
async function findDisks(chosen: ChosenDisk, disks: readonly Disk[], context: StageContext): Promise<readonly Disk[]> {
  const named = disks.filter((disk) => isSameDisk(chosenOf(disk, undefined), chosen) && !isSmaller(disk, chosen));
  if (named.length === 0 && chosen.uuid !== undefined) return withUUID(chosen, disks, context);
  // Cheap adapters give all their disks one name: then the rest of what is known of it tells.
  const exact = [
    named.filter(({ identity }) => identity !== undefined && identity === chosen.identity),
    named.filter(({ sizeBytes }) => sizeBytes === chosen.sizeBytes),
  ];
  return exact.find((found) => found.length === 1) ?? named;
}

/** A disk may grow. A smaller one is another, with the name that a cheap adapter gives to all of its disks. */
function isSmaller(disk: Disk, chosen: ChosenDisk): boolean {
  return disk.sizeBytes < chosen.sizeBytes;
}

function missing(chosen: ChosenDisk, disks: readonly Disk[]): VolumeError {
  const message = `the disk of this volume, ${nameOf(chosen)}, is not on the node: bring it back. The node has ${listed(disks)}`;
  return new VolumeError("DiskNotFound", "final", message, { on: { kind: "Device", name: nameOf(chosen) } });
}

function copied(chosen: ChosenDisk, found: readonly Disk[]): VolumeError {
  const message = `several disks are named as the disk of this volume, ${nameOf(chosen)}: ${listed(found)}. Take away those that are copies`;
  return new VolumeError("DiskAmbiguous", "final", message, { on: { kind: "Device", name: nameOf(chosen) } });
}

function nameOf({ lastingName, uuid }: ChosenDisk): string {
  return lastingName ?? `with file system ${uuid}`;
}

function listed(disks: readonly Disk[]): string {
  return disksText(disks, () => undefined) || "no disks";
}

/** Of disks without a name of their own, those with the file system that is on record. */
async function withUUID(chosen: ChosenDisk, disks: readonly Disk[], context: StageContext): Promise<Disk[]> {
  if (chosen.lastingName !== undefined) return [];
  const nameless = disks.filter((disk) => disk.lastingName === undefined && disk.claim === undefined);
  const looks = await lookAll(nameless, context);
  return nameless.filter((disk) => {
    const look = looks.get(disk);
    return typeof look === "object" && look.uuid === chosen.uuid;
  });
}

/** The only disk that matches, of those that nobody uses. */
async function chooseDisk(asked: DiskSelector, disks: readonly Disk[], context: StageContext): Promise<Disk> {
  const alike = disks.filter((disk) => matches(asked, disk));
  const taken = (disk: Disk) =>
    context.otherDisks().some(({ disk: other }) => isSameDisk(other, chosenOf(disk, undefined)));
  const untaken = alike.filter((disk) => disk.claim === undefined && !taken(disk));
  const seen = context.seenDisks ?? disks.flatMap((disk) => seenName(disk) ?? []);
  if (context.seenDisks === undefined) await context.recordSeenDisks(seen);
  const looks = await lookAll(untaken, context);
  const whyNot = (disk: Disk) => {
    if (disk.claim !== undefined) return disk.claim;
    if (taken(disk)) return "another volume has it";
    const look = looks.get(disk) ?? "it was not checked";
    const empty = typeof look === "object" && look.empty;
    return refusalOf(asked, look) ?? strangeReason(asked, disk, { empty, seen });
  };
  const attached = await attachedReasons(
    asked,
    disks,
    alike.filter((disk) => whyNot(disk) === undefined),
    context,
  );
  const reasonOf = (disk: Disk) => whyNot(disk) ?? attached.get(disk);
  const free = alike.filter((disk) => reasonOf(disk) === undefined);
  const [only, ...more] = free;
  const text = askedText(asked);
  if (only === undefined) {
    const candidates =
      alike.length > 0 ? `these match otherwise: ${disksText(alike, reasonOf)}` : `the node has ${listed(disks)}`;
    throw new VolumeError("DiskNotFound", "final", `no disk of the node is ${text}; ${candidates}`);
  }
  if (more.length === 0) return only;
  const message = `${free.length} disks of the node are ${text}: ${listed(free)}. Select one of them by more fields, such as serial or byID`;
  throw new VolumeError("DiskAmbiguous", "final", message);
}

/**
 * Why disks that are free by all that the node shows are not to be had: VolumeAttachments (decision 0119).
 * @throws VolumeError DiskNotCompared
 */
async function attachedReasons(
  asked: DiskSelector,
  disks: readonly Disk[],
  free: readonly Disk[],
  { attachedVolumes }: StageContext,
): Promise<ReadonlyMap<Disk, string>> {
  if (attachedVolumes === undefined || free.length === 0) return new Map();
  const volumes = await askAttached(attachedVolumes, free);
  const how = { disks, named: isNamed(asked) };
  return new Map(
    free.flatMap((disk) => {
      const found = attachedReason(disk, volumes, how);
      return found === undefined ? [] : [[disk, found.text] as const];
    }),
  );
}

async function lookAll(disks: readonly Disk[], context: StageContext): Promise<ReadonlyMap<Disk, Look>> {
  const looks = new Map<Disk, Look>();
  // One by one: a volume has one child at a time.
  for (const disk of disks) looks.set(disk, await lookAt(disk, context));
  return looks;
}

/**
 * A disk that cannot be read is no reason not to find another one. One that does not answer ends the search: it holds
 * up the only child that a volume has.
 */
async function lookAt(disk: Disk, context: StageContext): Promise<Look> {
  try {
    const device: DeviceInfo = await context.devices.probe(nodeOf(disk, context));
    return device.identity === disk.identity ? device : "it was replaced while it was checked";
  } catch (error) {
    if (!(error instanceof VolumeError) || error.errorClass === "uncertain") throw error;
    return messageOf(error);
  }
}

import { statSync } from "node:fs";
import { deviceNumberOf } from "../../../src/host/linux/syscall/block-device.ts";
import type { DiskExtent, Opening, Seen } from "./somebody.ts";

/**
 * Who uses a disk, beside the agent: by a descriptor, a loop device (an alias is one that stays), a mount that no table
 * shows, a bind of its node, or partitions.
 */
export interface User {
  readonly how: Opening | "loop" | "alias" | "mount" | "bind" | "partition";
  /** What ends it: an id of somebody's, a device or a path. */
  readonly by: number | string;
}

/**
 * What the agent may do to a disk.
 * `nothing`: not a byte of it may change.
 * `mount`: what is on it may be mounted, the data that it has stays.
 * `all`: it is nobody's, or was given away.
 */
export type Leave = "nothing" | "mount" | "all";

export interface DiskOf {
  readonly name: string;
  readonly size: number;
  readonly device: string;
  /** The file that it is made of; itself if it is made of none. */
  readonly path: string;
  readonly begin?: number;
  readonly end?: number;
  /** The disk that it is a partition of. */
  readonly whole?: Disk;
}

/** One disk of a world: what its owner knows of it, whatever name it has by now. */
export class Disk {
  readonly name: string;
  readonly size: number;
  device: string;
  readonly path: string;
  readonly begin: number;
  readonly end: number;
  readonly whole: Disk | undefined;
  /** `volume`: what the agent has made. */
  contents: "nothing" | "data" | "fileSystem" | "volume" = "nothing";
  readonly places: [at: number, length: number][] = [];
  /** Of the file system that its owner has made there. */
  label: string | undefined;
  readonly users: User[] = [];
  /** It was attached after every volume had looked for a disk: by another driver. */
  late = false;
  /** By what the last mkfs of ours on it was cut off. What ended halfway has written no signature. */
  cutOff: "killed" | "halfway" | undefined;
  /** Since then the agent has met somebody there who may write: it has no leave to go on. */
  leaveEnded = false;
  /** When the agent was last about to read it: `changes`, and whether somebody had it who may write. */
  read = { changes: 0, used: false };
  /** How often its owner has changed what is on it. */
  changes = 0;
  /** Where it was when he gave it away, which holds for it there alone, and `changes` then. */
  given: { readonly device: string; readonly changes: number } | undefined;
  /** As it was when the agent went on, and what that might do. */
  seen: Seen | undefined;
  leave: Leave = "nothing";

  constructor({ name, size, device, path, begin = 0, end = size, whole }: DiskOf) {
    [this.name, this.size, this.device, this.path] = [name, size, device, path];
    [this.begin, this.end, this.whole] = [begin, end, whole];
  }

  get lookedAt(): DiskExtent {
    const { path, device, begin, end, places } = this;
    return { path, device, begin, end, places };
  }

  /**
   * @param mounted whether a volume has it mounted
   * @param labels of file systems, as volumes ask for disks
   */
  leaveNow(mounted: boolean, labels: readonly string[]): Leave {
    if (this.contents === "volume") return this.mayBeWritten && !mounted ? "nothing" : "all"; // he may have begun to
    if (mounted) return "mount";
    if (this.mayBeWritten) return "nothing";
    // By a label people name a file system, whenever its disk comes; nothing else is a reason to take one that was
    // late.
    if (this.late) return this.label !== undefined && labels.includes(this.label) ? "mount" : "nothing";
    if (this.isGivenAway && !this.isUsed) return "all";
    if (this.contents === "fileSystem") return "mount";
    return this.contents === "nothing" && !this.isUsed ? "all" : "nothing";
  }

  get isGivenAway(): boolean {
    return this.given?.changes === this.changes && this.given.device === this.device;
  }

  get mayBeWritten(): boolean {
    return this.users.some(({ how }) => how !== "reads");
  }

  /** A partition is used by who writes to its disk, too. */
  get isUsed(): boolean {
    const ofWhole = this.whole?.users.some(({ how }) => how !== "reads" && how !== "partition") ?? false;
    return this.users.length > 0 || ofWhole;
  }

  /** Its owner has written to it. */
  hasNow(contents: "data" | "fileSystem", places: readonly (readonly [number, number])[], label?: string): void {
    [this.contents, this.label] = [contents, label];
    this.changes++;
    this.places.push(...places.map(([at, length]): [number, number] => [at, length]));
  }
}

/** Says what became of a disk that should not have become of it; undefined if nothing did. */
export function harmTo(disk: Disk, now: Seen): string | undefined {
  const { seen, leave, name, device } = disk;
  if (seen === undefined || leave === "all") return undefined;
  const lost = seen.parts.findIndex((part, index) => part !== now.parts[index]);
  const [at] = disk.places[lost] ?? [];
  const state = `${name} (${device}, ${disk.contents}, used by ${disk.users.map(({ how }) => how).join(", ") || "nobody"})`;
  if (lost >= 0) return `${state}: the data at ${at} is not what it was`;
  return leave === "nothing" && now.whole !== seen.whole ? `${state}: something was written to it` : undefined;
}

/** What the agent has made of a disk that was nobody's is a volume's. */
export function note(disk: Disk, now: Seen): void {
  if (disk.leave !== "all" || disk.seen === undefined || disk.seen.whole === now.whole) return;
  [disk.contents, disk.label] = ["volume", undefined];
  disk.places.length = 0;
  disk.given = undefined;
}

export function numberOf(device: string): string {
  return deviceNumberOf(statSync(device));
}

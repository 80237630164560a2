import { readdirSync, readFileSync, statSync } from "node:fs";
import { unlessErrno } from "../syscall/errno.ts";

/** What sysfs shows to be made of a block device. */
export interface BlockClaims {
  /** Names of devices that are made of it or of a partition of it: device-mapper, RAID. */
  readonly holders: readonly string[];
  readonly partitions: readonly BlockPartition[];
}

/** A partition of a block device, as sysfs lists it. */
interface BlockPartition {
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
}

/** @throws an error of node:fs, ENOENT if the kernel has no such device */
export function claimsOf(deviceNumber: string): BlockClaims {
  const directory = `/sys/dev/block/${deviceNumber}`;
  const partitions = readdirSync(directory)
    .filter((entry) => entry !== "partition" && isPartition(`${directory}/${entry}`))
    .map((name) => ({ name, deviceNumber: readFileSync(`${directory}/${name}/dev`, "utf8").trim() }));
  const devices = [directory, ...partitions.map(({ name }) => `${directory}/${name}`)];
  return { holders: devices.flatMap((device) => entries(`${device}/holders`)), partitions };
}

/**
 * Partitions on a device, and devices made of it, which claim it without an open that would show; undefined if none.
 */
export function claimText({ holders, partitions }: BlockClaims): string | undefined {
  if (holders.length > 0) return `it is part of ${holders.join(", ")}`;
  return partitions.length > 0 ? `it has partitions: ${partitions.map(({ name }) => name).join(", ")}` : undefined;
}

function isPartition(directory: string): boolean {
  return unlessErrno(absent, () => statSync(`${directory}/partition`)) !== undefined;
}

function entries(directory: string): readonly string[] {
  return unlessErrno(absent, () => readdirSync(directory)) ?? [];
}

const absent = ["ENOENT", "ENOTDIR"];

import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import type { Disk, Transport } from "../../ports/disk.ts";
import { attribute, deviceIdentity, lastingName, sector } from "../syscall/block-device.ts";
import { unlessErrno } from "../syscall/errno.ts";
import { diskAttachedBy } from "./attached-by.ts";
import { claimsOf, claimText } from "./block-claims.ts";
import { deviceBeneath } from "./loop-backing.ts";

/** What a disk's place in sysfs says of how it is connected; the first that fits, as one bus lies beneath another. */
const places: readonly (readonly [RegExp, Transport])[] = [
  [/\/usb\d/, "usb"],
  [/\/nvme/, "nvme"],
  [/\/session\d/, "iscsi"],
  [/\/rport-/, "fc"],
  [/\/end_device-/, "sas"],
  [/\/ata\d/, "ata"],
  [/\/mmc_host\//, "mmc"],
  [/\/virtio\d/, "virtio"],
  [/\/virtual\/block\/loop\d/, "loop"],
];

/**
 * All disks of the node that have a medium: no partitions, no CD-ROM, nothing that is made of memory or of other
 * devices (zram, device-mapper, RAID).
 * @param dev the node's /dev, as the agent sees it
 * @throws an error of node:fs
 */
export function readDisks(dev: string, bootID: string): Disk[] {
  const links = linksIn(`${dev}/disk/by-id`);
  const paths = linksIn(`${dev}/disk/by-path`);
  const names = readdirSync("/sys/block").filter((name) => !/^(sr|fd|ram)\d/.test(name));
  return names
    .flatMap(
      (name) =>
        unlessPulled(() => diskOf({ name, dev, ids: links.get(name) ?? [], paths: paths.get(name) ?? [] }, bootID)) ??
        [],
    )
    .sort(byName);
}

interface Named {
  readonly name: string;
  readonly dev: string;
  readonly ids: readonly string[];
  readonly paths: readonly string[];
}

function diskOf({ name, dev, ids, paths }: Named, bootID: string): Disk | undefined {
  const place = realpathSync(`/sys/block/${name}`);
  const transport = places.find(([pattern]) => pattern.test(place))?.[1] ?? "other";
  const sizeBytes = Number(attribute(`${place}/size`)) * sector;
  const made = place.includes("/virtual/") && transport === "other";
  if (made || sizeBytes === 0 || attribute(`${place}/hidden`) === "1") return undefined;
  const deviceNumber = attribute(`${place}/dev`);
  const readOnly = attribute(`${place}/ro`) === "1" ? "it is write-protected" : undefined;
  return {
    name,
    deviceNumber,
    sizeBytes,
    rotational: attribute(`${place}/queue/rotational`) === "1",
    transport,
    ids,
    paths,
    ...given("sequence", first(place, "diskseq")),
    ...given("identity", deviceIdentity(deviceNumber, sizeBytes, bootID)),
    ...given("attached", diskAttachedBy(place)),
    ...given("lastingName", lastingName(place)),
    ...given("wwid", first(place, "wwid", "device/wwid")),
    ...given("serial", first(place, "serial", "device/serial")),
    ...given("model", first(place, "device/model", "device/name")),
    ...given(
      "claim",
      claimText(claimsOf(deviceNumber)) ?? readOnly ?? (transport === "loop" ? aliasText(`${dev}/${name}`) : undefined),
    ),
  };
}

/**
 * A loop device on another block device is a second name of that, whoever has it: kubelet makes one on each raw volume.
 */
function aliasText(path: string): string | undefined {
  const beneath = deviceBeneath(path);
  return beneath === undefined ? undefined : `it is made of another device, ${beneath}`;
}

function first(place: string, ...files: readonly string[]): string | undefined {
  return files.map((file) => attribute(`${place}/${file}`)).find((text) => text !== "");
}

function given<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: string });
}

/** By kernel name, what links to it. Without udev there are none. */
export function linksIn(directory: string): ReadonlyMap<string, readonly string[]> {
  const links = (unlessPulled(() => readdirSync(directory)) ?? []).sort();
  const named = links.flatMap((link) => {
    const target = unlessPulled(() => readlinkSync(`${directory}/${link}`));
    return target === undefined ? [] : [{ link, name: basename(target) }];
  });
  return new Map([...Map.groupBy(named, ({ name }) => name)].map(([name, of]) => [name, of.map(({ link }) => link)]));
}

/** A disk may be pulled while it is looked at. */
const unlessPulled = <T>(look: () => T) => unlessErrno(["ENOENT", "ENODEV", "ENXIO", "EINVAL"], look);

/** sdb before sdaa. */
function byName(a: Disk, b: Disk): number {
  return a.name.length - b.name.length || (a.name < b.name ? -1 : 1);
}

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { addressOf, type MultipathMap, type ScsiDisk, type ScsiPort, type ScsiTree } from "../../ports/scsi.ts";
import { linksIn } from "../device/disks.ts";
import { attribute, sector } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { nameOfWWID, namesOfPage } from "./scsi-names.ts";

/** Where to look, so that it can be tried on a made tree. */
export interface ScsiPlaces {
  /** /sys */
  readonly sys: string;
  /** The node's /dev, as the agent sees it. */
  readonly dev: string;
  /** What udev knows of devices: /run/udev/data of the node. */
  readonly udev: string;
  /** /proc/net/unix */
  readonly sockets: string;
  readonly bootID: string;
}

/** All SCSI disks of the node, and the targets that it is connected to. What goes while it is looked at is left out. */
export function readScsi(places: ScsiPlaces): ScsiTree {
  const links = linksIn(`${places.dev}/disk/by-id`);
  const devices = entries(`${places.sys}/class/scsi_device`);
  return {
    disks: devices.flatMap((place) => diskAt(place, links, places) ?? []),
    ports: [...entries(`${places.sys}/class/fc_remote_ports`), ...entries(`${places.sys}/class/iscsi_session`)].flatMap(
      (place) => portAt(place) ?? [],
    ),
    hosts: entries(`${places.sys}/class/scsi_host`).map((place) => ({
      host: Number(basename(place).replace("host", "")),
      driver: attribute(`${place}/proc_name`),
    })),
    multipathd: (ifThere(() => readFileSync(places.sockets, "utf8")) ?? "").includes(multipathdSocket),
  };
}

/** Where multipathd listens, in the network namespace that it is in. */
const multipathdSocket = "@/org/kernel/linux/storage/multipathd";

/**
 * @returns undefined for what is no disk: a CD-ROM, a tape, an enclosure, and a disk of which the kernel has no block
 *   device yet
 */
function diskAt(
  place: string,
  links: ReadonlyMap<string, readonly string[]>,
  places: ScsiPlaces,
): ScsiDisk | undefined {
  const address = addressOf(basename(place));
  const device = `${place}/device`;
  const [name] = (ifThere(() => readdirSync(`${device}/block`)) ?? []).filter((entry) => entry.startsWith("sd"));
  if (name === undefined || address === undefined) return undefined;
  const block = `${device}/block/${name}`;
  const deviceNumber = attribute(`${block}/dev`);
  if (deviceNumber === "") return undefined;
  const wwid = attribute(`${device}/wwid`);
  const sequence = attribute(`${block}/diskseq`);
  const lasting = wwid || (sequence && `disk ${sequence} of boot ${places.bootID}`);
  const map = mapOf(block, places.sys);
  return {
    name,
    deviceNumber,
    address,
    state: attribute(`${device}/state`),
    sizeBytes: Number(attribute(`${block}/size`)) * sector,
    names: namesAt(device, wwid),
    ids: links.get(name) ?? [],
    told: existsSync(`${places.udev}/b${deviceNumber}`),
    ...(wwid !== "" && { wwid }),
    ...(lasting !== "" && { lasting }),
    ...(map && { map }),
  };
}

function namesAt(device: string, wwid: string): string[] {
  const page = ifThere(() => readFileSync(`${device}/vpd_pg83`));
  const chosen = nameOfWWID(wwid);
  return [...new Set([...(chosen === undefined ? [] : [chosen]), ...(page === undefined ? [] : namesOfPage(page))])];
}

/** What multipath makes has a UUID that begins so; a partition of it, or LVM on it, has another (dm/uuid). */
function mapOf(block: string, sys: string): MultipathMap | undefined {
  for (const device of ifThere(() => readdirSync(`${block}/holders`)) ?? []) {
    const holder = `${sys}/block/${device}`;
    if (!attribute(`${holder}/dm/uuid`).startsWith("mpath-")) continue;
    const deviceNumber = attribute(`${holder}/dev`);
    const sizeBytes = Number(attribute(`${holder}/size`)) * sector;
    const links = ifThere(() => readdirSync(`${holder}/slaves`)) ?? [];
    // Of a disk that has gone the link stays.
    const paths = links.filter((name) => existsSync(`${holder}/slaves/${name}`));
    return { name: attribute(`${holder}/dm/name`), device, deviceNumber, sizeBytes, paths };
  }
  return undefined;
}

function portAt(place: string): ScsiPort | undefined {
  const name = basename(place);
  const [, host, channel] = /^rport-(\d+):(\d+)-\d+$/.exec(name) ?? [];
  if (host !== undefined && channel !== undefined) {
    const target = Number(attribute(`${place}/scsi_target_id`) || -1);
    const wwn = attribute(`${place}/port_name`).replace(/^0x/, "");
    if (target < 0 || wwn === "") return undefined; // no target, but another initiator or a switch
    const state = attribute(`${place}/port_state`);
    return { kind: "fc", host: Number(host), channel: Number(channel), target, wwn, state };
  }
  const device = ifThere(() => realpathSync(`${place}/device`)) ?? "";
  const [, number] = /\/host(\d+)\/session\d+$/.exec(device) ?? [];
  if (number === undefined) return undefined;
  const target = Number(attribute(`${place}/target_id`) || 0);
  const [iqn, state] = [attribute(`${place}/targetname`), attribute(`${place}/state`)];
  return { kind: "iscsi", host: Number(number), channel: 0, target, session: name, iqn, state };
}

/** In the order of their numbers, so that one look is like the next. */
function entries(directory: string): string[] {
  const names = ifThere(() => readdirSync(directory)) ?? [];
  return names.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).map((name) => `${directory}/${name}`);
}

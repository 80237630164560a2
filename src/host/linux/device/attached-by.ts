import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { devicesBeneath, type LayerSources, placeOf } from "./devices-beneath.ts";

/** What a disk's place in sysfs says of those that are attached to the node from elsewhere. */
const places: readonly (readonly [RegExp, string])[] = [
  [/\/session\d/, "iscsi"],
  [/\/rport-/, "fc"],
  [/\/host\d+\/port-\d+:\d+\/target/, "srp"], // an adapter of SAS has an end_device between
  [/\/vhci_hcd\b/, "usbip"],
  [/\/tcm_loop_adapter_\d/, "a SCSI target of this node"], // LIO serves the same to other nodes by other fabrics
  [/\/vduse\//, "vduse"],
];
/** Drivers that bring a disk from another machine, or from a program that may, by the name of the disk. */
const drivers = /\/(?:(rbd|nbd|rnbd|drbd)\d+|(ublk)b\d+|(etherd)![^/]+)$/;

/**
 * By what a device is attached, if others than this node may reach it, and write to it: iSCSI, Fibre Channel, SRP,
 * USB/IP, NVMe over fabrics, RBD, NBD, RNBD, DRBD, ATA over Ethernet, a disk of a program (ublk, VDUSE), a SCSI target
 * of the node itself. Of a partition: its disk; of what device-mapper or RAID has made: any device beneath it; of a
 * loop device on another block device: that.
 * @param sys /sys, or a made tree
 * @param deviceNumber `major:minor`
 * @param beneathLoop what a loop device of this name is made of, if that is a block device
 */
export function attachedBy(
  sys: string,
  deviceNumber: string,
  beneathLoop?: LayerSources["beneathLoop"],
): string | undefined {
  const sources = { sys, ...(beneathLoop && { beneathLoop }) };
  const own = placeOf(deviceNumber, sources);
  const beneath = devicesBeneath(deviceNumber, sources).map(({ place }) => place);
  const all = own === undefined ? [] : [own, ...beneath];
  return all.map(diskAttachedBy).find((by) => by !== undefined);
}

/** @param place the disk's directory in sysfs */
export function diskAttachedBy(place: string): string | undefined {
  const known = places.find(([pattern]) => pattern.test(place))?.[1];
  if (known !== undefined) return known;
  const [, ...names] = drivers.exec(place) ?? [];
  return names.find((name) => name !== undefined) ?? nvmeFabric(place);
}

/** A namespace is beneath its controller, or with native multipath beneath its subsystem, where the controllers are. */
function nvmeFabric(place: string): string | undefined {
  if (!/\/nvme[^/]*$/.test(place)) return undefined;
  const above = dirname(place);
  const controllers = (ifThere(() => readdirSync(above)) ?? []).filter((name) => /^nvme\d+$/.test(name));
  const transports = [above, ...controllers.map((name) => `${above}/${name}`)].map((at) =>
    attribute(`${at}/transport`),
  );
  const fabric = transports.find((transport) => transport !== "" && transport !== "pcie");
  return fabric && `nvme over ${fabric}`;
}

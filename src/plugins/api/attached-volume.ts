import type { AttachedVolume } from "../../api/types.gen.ts";
import type { Disk } from "../../host/ports/disk.ts";

/** All that a disk is called on its node; of what is no disk of its own (a multipath map) fewer. */
export type NamedDisk = Pick<Disk, "name"> & Partial<Pick<Disk, "ids" | "paths" | "serial" | "wwid">>;

/** Shorter texts name too much: the number of a LUN, for one. */
const shortest = 3;
/** From this length on a text is looked for in all of a disk's name: `vol0a1b…`, a UUID, an IQN. */
const telling = 12;
/** virtio keeps 20 bytes of a serial number: of a UUID, that many letters and digits. */
const truncated = 16;
/** What no two volumes have in common: so many digits of a UUID or a wwid. A name is the beginning of another one. */
const unique = /[0-9a-f]{12}/;

/** Its publish context has the number of the LUN; the node has that in by-path (azuredisk-csi-driver: consts.LUN). */
const azure = "disk.csi.azure.com";
/** Azure's controller of data disks, as udev's path_id writes its id (azure-vm-utils has that, with dashes). */
const azureData = "vmbus-f8b3781b1e824818a1c363d806ec15bb";

/** Links in by-id that have the whole name of a volume behind this: the disk `data` is not `old-data`. */
const linksOf: { readonly [driver: string]: readonly string[] } = {
  "pd.csi.storage.gke.io": ["google-", "scsi-0Google_PersistentDisk_"],
  "csi.hetzner.cloud": ["scsi-0HC_Volume_"],
  "dobs.csi.digitalocean.com": ["scsi-0DO_Volume_"],
};

/**
 * Drivers whose VolumeAttachment makes no device: they map an image that is shown as attached (`rbd`), or mount a file
 * system of the network, once a volume is staged.
 */
const withoutDisk = /^(?:.+\.)?(?:rbd|cephfs|nfs)\.csi\.ceph\.com$/;

/**
 * PURE. Whether a VolumeAttachment is of this disk. By what the driver calls the volume, or says of its device:
 * - EBS: `vol-0a1b` is the serial number `vol0a1b`, and in `nvme-Amazon_Elastic_Block_Store_vol0a1b`
 * - GCE: `projects/p/zones/z/disks/NAME` is `google-NAME` and `scsi-0Google_PersistentDisk_NAME`
 * - Azure: LUN 3 is the link in by-path of the controller of data disks that ends with `-lun-3`
 * - vSphere: `diskUUID` is in the wwid; Cinder: the handle, or its first 20 characters, is the serial number
 * - Hetzner, DigitalOcean: handle or name of the volume is behind `scsi-0HC_Volume_`, `scsi-0DO_Volume_`
 * - iSCSI: an IQN with the handle is in by-path, as Longhorn's is
 * @returns `perhaps` by the kernel's name alone, which clouds predict and kernels do not keep to, or by a part of a
 *   link that other volumes may have, too: the disk is busy, but the VolumeAttachment may be of another one
 */
export function tieOf(volume: AttachedVolume, disk: NamedDisk): "surely" | "perhaps" | undefined {
  const { name, ids = [], paths = [], serial, wwid } = disk;
  const given = [...(volume.volumeHandle === undefined ? [] : [volume.volumeHandle]), ...(volume.names ?? [])];
  const terms = given.flatMap((text) => [text, text.split("/").at(-1) ?? ""]);
  const called = [...ids, ...paths, ...[serial, wwid].flatMap((one) => one ?? [])];
  const prefixes = Object.hasOwn(linksOf, volume.driver) ? linksOf[volume.driver] : undefined;
  const lun = volume.driver === azure ? given.find((text) => /^\d{1,3}$/.test(text)) : undefined;
  if (lun !== undefined && paths.some((link) => link.endsWith(`${azureData}-lun-${lun}`))) return "surely";
  if (prefixes?.some((prefix) => terms.some((term) => term !== "" && ids.includes(prefix + term)))) return "surely";
  const ties = terms.flatMap((term) => called.map((one) => byName(term, one)));
  if (serial !== undefined && terms.some((term) => isTruncated(serial, term))) ties.push("surely");
  // Of these the links above are known: no other part of a name tells one volume from another.
  if (ties.includes("surely")) return prefixes === undefined ? "surely" : "perhaps";
  return ties.includes("perhaps") || given.some((text) => text === `/dev/${name}`) ? "perhaps" : undefined;
}

function byName(term: string, name: string): "surely" | "perhaps" | undefined {
  const [short, long] = [plain(term), plain(name)];
  if (short.length < shortest) return undefined;
  if (short === long) return "surely";
  if (short.length >= telling && long.includes(short)) return unique.test(short) ? "surely" : "perhaps";
  const [end, link] = [term.toLowerCase(), name.toLowerCase()];
  return ["-", "_"].some((before) => link.endsWith(`${before}${end}`)) ? "perhaps" : undefined;
}

function isTruncated(serial: string, term: string): boolean {
  return plain(serial).length >= truncated && unique.test(plain(serial)) && plain(term).startsWith(plain(serial));
}

/** Dashes, dots and letter case differ between a cloud's API, sysfs and udev. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/**
 * PURE. Why a disk is not to be had, by the VolumeAttachments of its node; undefined if nothing is against it.
 * @param how.disks all disks of the node
 * @param how.named whether the set names the disk, by path, byID, wwid or serial. If not, a VolumeAttachment that no
 *   disk can be tied to may be of this one.
 */
export function attachedReason(
  disk: NamedDisk,
  volumes: readonly AttachedVolume[],
  how: { readonly disks: readonly NamedDisk[]; readonly named: boolean },
): { readonly text: string; readonly volume: AttachedVolume } | undefined {
  const own = volumes.find((volume) => tieOf(volume, disk) !== undefined);
  if (own !== undefined) return { text: `it is attached to the node ${ofWhom(own)}`, volume: own };
  if (how.named) return undefined;
  const untied = volumes.find(
    (volume) => !withoutDisk.test(volume.driver) && how.disks.every((one) => tieOf(volume, one) !== "surely"),
  );
  if (untied === undefined) return undefined;
  const text = `it may be the disk that is attached to the node ${ofWhom(untied)}, as that cannot be tied to any disk of the node: name the disk by byID, wwid or serial if it is meant`;
  return { text, volume: untied };
}

/** By driver, PersistentVolume and claim. */
function ofWhom({ driver, persistentVolume, volumeHandle, claim, volumeAttachment }: AttachedVolume): string {
  const what =
    persistentVolume === undefined ? `as ${volumeHandle ?? "a volume"}` : `as PersistentVolume ${persistentVolume}`;
  const of = [what, ...(claim === undefined ? [] : [`of claim ${claim}`])];
  return [`by ${driver}`, ...of, `(VolumeAttachment ${volumeAttachment})`].join(" ");
}

import type { AttachedVolume } from "../../api/types.gen.ts";
import type { Disk } from "../../host/ports/disk.ts";

/** All that a disk is called on its node; of what is no disk of its own (a multipath map) fewer. */
export type NamedDisk = Pick<Disk, "name"> & Partial<Pick<Disk, "ids" | "paths" | "serial" | "wwid">>;

/** Shorter texts name too much: the number of a LUN, for one. */
const shortest = 3;
/** From this length on a text names a disk wherever it stands in the disk's name: `vol0a1b…`, a UUID, an IQN. */
const telling = 12;
/** virtio keeps 20 bytes of a serial number: of a UUID, that many letters and digits. */
const truncated = 16;

/** Its publish context has the number of the LUN; the node has that in by-path (azuredisk-csi-driver: consts.LUN). */
const azure = "disk.csi.azure.com";

/**
 * Drivers whose VolumeAttachment makes no device: they map an image that is shown as attached (`rbd`), or mount a file
 * system of the network, once a volume is staged.
 */
const withoutDisk = /^(?:.+\.)?(?:rbd|cephfs|nfs)\.csi\.ceph\.com$/;

/**
 * PURE. Whether a VolumeAttachment is of this disk. By what the driver calls the volume, or says of its device:
 * - EBS: `vol-0a1b` is the serial number `vol0a1b`, and in `nvme-Amazon_Elastic_Block_Store_vol0a1b`
 * - GCE: `projects/p/zones/z/disks/NAME` is `google-NAME` and `scsi-0Google_PersistentDisk_NAME`
 * - Azure: LUN 3 is a link in by-path that ends with `-lun-3`
 * - vSphere: `diskUUID` is in the wwid; Cinder: the handle, or its first 20 characters, is the serial number
 * - Hetzner, DigitalOcean: handle or name of the volume ends `scsi-0HC_Volume_…`, `scsi-0DO_Volume_…`
 * - iSCSI: an IQN with the handle is in by-path, as Longhorn's is
 * @returns `perhaps` by the kernel's name alone, which clouds predict and kernels do not keep to
 */
export function tieOf(volume: AttachedVolume, disk: NamedDisk): "surely" | "perhaps" | undefined {
  const { name, ids = [], paths = [], serial, wwid } = disk;
  const given = [...(volume.volumeHandle === undefined ? [] : [volume.volumeHandle]), ...(volume.names ?? [])];
  const terms = given.flatMap((text) => [text, text.split("/").at(-1) ?? ""]);
  const links = [...ids, ...paths];
  const called = [...links, ...[serial, wwid].flatMap((one) => one ?? [])];
  const lun = volume.driver === azure ? given.find((text) => /^\d{1,3}$/.test(text)) : undefined;
  if (lun !== undefined && paths.some((link) => link.endsWith(`-lun-${lun}`))) return "surely";
  if (terms.some((term) => called.some((one) => isNamedBy(term, one)))) return "surely";
  if (serial !== undefined && terms.some((term) => isTruncated(serial, term))) return "surely";
  return given.some((text) => text === `/dev/${name}`) ? "perhaps" : undefined;
}

function isNamedBy(term: string, name: string): boolean {
  const [short, long] = [plain(term), plain(name)];
  if (short.length < shortest) return false;
  if (short === long || (short.length >= telling && long.includes(short))) return true;
  const [end, link] = [term.toLowerCase(), name.toLowerCase()];
  return ["-", "_"].some((before) => link.endsWith(`${before}${end}`));
}

function isTruncated(serial: string, term: string): boolean {
  return plain(serial).length >= truncated && plain(term).startsWith(plain(serial));
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

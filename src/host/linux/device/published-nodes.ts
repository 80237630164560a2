import { lstatSync } from "node:fs";
import { isLocal } from "../../mount-table/may-block.ts";
import { isBeneath } from "../../mount-table/mount-table.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { deviceNumberOf } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";

/** A device node that is looked for elsewhere on the node. */
export interface Node {
  /** Path of the node that is asked about. */
  readonly path: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  /** The kernel's name. */
  readonly name: string;
}

/** What stands at a mount point. */
interface Seen {
  /** `major:minor` of the file system. */
  readonly device: string;
  /** `major:minor` that it stands for, if it is a block device. */
  readonly stands?: string;
}

/**
 * The mount of a device's node, whatever the node is called: a pod, or a driver, has got the device itself. A
 * directory, or a file of the device's name, is none. Where the mount point cannot be looked at (it lies on what may
 * hang, or another mount covers it), the name decides.
 */
export function publishedNode(
  { path, deviceNumber, name }: Node,
  mounts: readonly MountEntry[],
  look: (point: string) => Seen | undefined = lookAt,
): MountEntry | undefined {
  const hanging = mounts.filter(({ fsType }) => !isLocal(fsType));
  const ofNode = ({ root, fsType, point }: MountEntry) =>
    root !== "/" && /^(devtmpfs|tmpfs)$/.test(fsType) && point !== path;
  return mounts.filter(ofNode).find(({ root, point, device }) => {
    const seen = hanging.some((mount) => isBeneath(point, mount.point)) ? undefined : look(point);
    return seen?.device === device ? seen.stands === deviceNumber : root === `/${name}`;
  });
}

function lookAt(point: string): Seen | undefined {
  const status = ifThere(() => lstatSync(point));
  if (status === undefined) return undefined;
  const device = deviceNumberOf({ rdev: status.dev });
  return { device, ...(status.isBlockDevice() && { stands: deviceNumberOf(status) }) };
}

import { readdirSync, statSync } from "node:fs";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { attribute } from "../syscall/device-identity.ts";
import { deviceNumberOf } from "../syscall/device-number.ts";
import { ifThere } from "../syscall/if-there.ts";

/** Where configfs is on a node. */
const usual = "/sys/kernel/config";

/**
 * Directories of configfs, each of something that the kernel serves to other machines, with the attribute that names
 * its file. These servers open a block device without a claim (nvmet_bdev_ns_enable, fd_configure_device and
 * fsg_lun_open of Linux). LIO's iblock claims it.
 */
const servers = [
  { places: "nvmet/subsystems/*/namespaces/*", file: "device_path" },
  { places: "target/core/fileio_*/*", file: "info" },
  { places: "usb_gadget/*/functions/mass_storage.*/lun.*", file: "file" },
] as const;

/**
 * What the kernel serves of block devices to other machines: an NVMe target, a SCSI target (LIO), USB mass storage.
 * @param mounts that this process sees; without configfs nothing is served
 * @param look the `major:minor` of the block device at a path
 * @returns its directory in the node's configfs, of the first one
 */
export function exportOf(
  deviceNumbers: readonly string[],
  mounts: readonly Pick<MountEntry, "fsType" | "point">[],
  look: (path: string) => string | undefined = blockDeviceAt,
): string | undefined {
  for (const { point } of mounts.filter(({ fsType }) => fsType === "configfs")) {
    const root = point.endsWith(usual) ? point.slice(0, -usual.length) : "";
    for (const { places, file } of servers) {
      const served = matching(point, places.split("/")).find((place) => {
        if (isOff(place)) return false;
        const nodes = nodesOf(root, fileIn(attribute(`${place}/${file}`)));
        return nodes.some((node) => deviceNumbers.includes(look(node) ?? ""));
      });
      if (served !== undefined) return served.slice(root.length);
    }
  }
  return undefined;
}

/** What has no such switch is on as long as it names a file. */
function isOff(place: string): boolean {
  return attribute(`${place}/enable`) === "0";
}

/** `TCM FILE ID: 0        File: /dev/sdb  Size: 1048576  Mode: O_DSYNC Async: 0` of LIO, else the text itself. */
function fileIn(text: string): string {
  return /File: (.+?) {2}Size: /.exec(text)?.[1] ?? text;
}

/**
 * Where a device may be that somebody, perhaps in a container, has named by this path. Other paths may hang, and are
 * not looked at.
 * @param root the node's, as this process sees it
 */
function nodesOf(root: string, path: string): readonly string[] {
  const at = path.lastIndexOf("/dev/");
  return at < 0 ? [] : [`${root}${path.slice(at)}`, path.slice(at)];
}

function blockDeviceAt(path: string): string | undefined {
  const stat = ifThere(() => statSync(path));
  return stat?.isBlockDevice() ? deviceNumberOf(stat) : undefined;
}

/** Directories beneath one, by the names of their parts, in which a star stands for any text. */
function matching(directory: string, [first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return [directory];
  const [begin = "", end = ""] = first.split("*");
  const names = (ifThere(() => readdirSync(directory)) ?? []).filter((name) =>
    first.includes("*") ? name.startsWith(begin) && name.endsWith(end) : name === first,
  );
  return names.flatMap((name) => matching(`${directory}/${name}`, rest));
}

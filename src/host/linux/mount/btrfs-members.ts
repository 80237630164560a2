import { readdirSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { listed } from "../../../api/values/listed.ts";
import { VolumeError } from "../../../errors.ts";
import { attachedBy } from "../device/attached-by.ts";
import { attribute } from "../syscall/device-identity.ts";
import { ifThere } from "../syscall/if-there.ts";

/** How many devices a message names. */
const named = 8;

/**
 * Checks a btrfs that the kernel has just mounted: it must consist of the named device, and of no other device that
 * other nodes may write to. The kernel finds the devices of a btrfs by a UUID in their superblocks, and the newest
 * superblock wins: whoever can write to another disk of the node could otherwise replace the intended file system.
 * @param sys /sys, or a made tree
 * @throws VolumeError FilesystemUnsupported
 */
export function refuseStrangeMembers(sys: string, source: string, deviceNumber: string): void {
  const name = basename(realpathSync(`${sys}/dev/block/${deviceNumber}`));
  const mounted = (ifThere(() => readdirSync(`${sys}/fs/btrfs`)) ?? []).map(
    (uuid) => `${sys}/fs/btrfs/${uuid}/devices`,
  );
  const membersIn = (place: string) => ifThere(() => readdirSync(place)) ?? [];
  const place = mounted.find((one) => membersIn(one).includes(name));
  const others = place === undefined ? [] : membersIn(place).filter((one) => one !== name);
  const strange = others.flatMap((one) => {
    const number = attribute(`${place}/${one}/dev`);
    const by = number === "" ? "nobody any more" : attachedBy(sys, number);
    return by === undefined ? [] : [`/dev/${one} (attached by ${by})`];
  });
  if (place !== undefined && strange.length === 0) return;
  const what = place === undefined ? "without it, of another device" : `with ${listed(strange, named)}`;
  const message = `the btrfs on ${source} would be mounted ${what}: the kernel finds its devices by a UUID, and who can write to a disk that is attached from elsewhere can give it that. Take such disks off the node, or use a btrfs of the node's own disks`;
  throw new VolumeError("FilesystemUnsupported", "transient", message, { on: { kind: "Device", name: source } });
}

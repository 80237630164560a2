import { expect } from "chai";
import { mayBeOf, mayShow } from "../../../../../src/host/linux/evidence/seen-mount.ts";
import { decodeAnywhere } from "../../../../../src/host/linux/syscall/statmount.ts";
import type { MountIdentity } from "../../../../../src/host/mount-table/mount-table.ts";
import { OptionLists } from "../../../../../src/host/mount-table/option-lists.ts";

interface Told {
  readonly device: string;
  readonly type: string;
  readonly root: string;
  /** Absent: as Linux 6.12, which does not tell it. */
  readonly source?: string;
}

/** struct statmount of include/uapi/linux/mount.h. */
function statmount({ device, type, root, source }: Told): Buffer {
  const fixed = 512;
  const mask = 0x1 | 0x2 | 0x8 | 0x20 | (source === undefined ? 0 : 0x200);
  const buffer = Buffer.alloc(fixed + 256);
  buffer.writeUInt32LE(mask, 8);
  device.split(":").forEach((number, index) => {
    buffer.writeUInt32LE(Number(number), 16 + 4 * index);
  });
  let at = 1;
  for (const [field, text] of [
    [36, type],
    [104, root],
    [124, source ?? ""],
  ] as const) {
    buffer.writeUInt32LE(at, field);
    at += buffer.write(text, fixed + at) + 1;
  }
  return buffer;
}

function seen(told: Told) {
  const { entry, vague } = decodeAnywhere(statmount(told), new OptionLists());
  return vague === undefined ? entry : { ...entry, vague };
}

describe("a mount of another namespace, as statmount tells it", () => {
  const disk = { device: "8:1", root: "/var/lib/x/vol" };
  const subvolume = { device: "0:40", root: "/vol", source: "/dev/sda" };
  const exported = { device: "0:50", root: "/", source: "srv:/a" };
  const rows: readonly (readonly [string, Told, MountIdentity, boolean, boolean])[] = [
    ["a disk: above the volume", { device: "8:1", type: "ext4", root: "/" }, disk, true, false],
    ["a disk: the volume", { device: "8:1", type: "ext4", root: "/var/lib/x/vol" }, disk, true, true],
    [
      "a disk: beneath it",
      { device: "8:1", type: "xfs", root: "/var/lib/x/vol/a", source: "/dev/sda1" },
      disk,
      true,
      true,
    ],
    ["a disk: beside it", { device: "8:1", type: "ext4", root: "/var/lib/x/vol2" }, disk, true, false],
    ["a disk: a type that is not known", { device: "8:1", type: "ntfs3", root: "/" }, disk, true, true],
    ["another disk", { device: "8:2", type: "ext4", root: "/var/lib/x/vol" }, disk, false, false],
    ["btrfs: above the volume", { device: "0:40", type: "btrfs", root: "/" }, subvolume, true, false],
    ["btrfs: the volume", { device: "0:40", type: "btrfs", root: "/vol" }, subvolume, true, true],
    ["btrfs: another's", { device: "0:40", type: "btrfs", root: "/vol", source: "/dev/sdb" }, subvolume, false, false],
    ["nfs: no source is told", { device: "0:50", type: "nfs4", root: "/x" }, exported, true, true],
    ["nfs: its source", { device: "0:50", type: "nfs4", root: "/x", source: "srv:/a" }, exported, true, true],
    ["nfs: another source", { device: "0:50", type: "nfs4", root: "/", source: "srv:/b" }, exported, false, false],
    ["nfs: no root is known", { device: "0:50", type: "nfs4", root: "/" }, { ...exported, root: "/x" }, true, true],
  ];
  for (const [what, told, identity, isOf, shows] of rows) {
    it(`${what}: ${shows ? "may show" : "does not show"} the volume`, () => {
      const mount = seen(told);
      expect([mount.device, mount.fsType, mount.root, mount.source]).to.deep.equal([
        told.device,
        told.type,
        told.root,
        told.source ?? "",
      ]);
      expect([mayBeOf(mount, identity), mayShow(mount, identity)]).to.deep.equal([isOf, shows]);
    });
  }
});

import { expect } from "chai";
import { sourceTraits, sourceTypes } from "../../../../src/api/source-traits.ts";
import type { VolumeSource } from "../../../../src/api/types.gen.ts";
import { diskOf } from "../../../../src/controller/model/disk-id.ts";
import { isCSI, isGuarded } from "../../../../src/controller/model/volume-key.ts";

const idOf = (source: VolumeSource) => {
  const { driver, volumeHandle } = diskOf(source)?.id ?? { driver: "", volumeHandle: "" };
  return `${driver} ${volumeHandle}`.trim();
};
const wwns = ["50:01:43:80:18:6b:c6:60", "50014380186bc662"];
const rbd = (monitors: string[], pool?: string): VolumeSource => ({
  rbd: { monitors, image: "data", ...(pool !== undefined && { pool }), secretRef: { namespace: "s", name: "ceph" } },
});

describe("diskOf", () => {
  const disks: readonly (readonly [string, VolumeSource, string])[] = [
    [
      "a LUN of iSCSI, without the way to it",
      { iscsi: { targetPortal: "a", portals: ["b"], iqn: "iqn.2026-01.example:Disk", lun: 0 } },
      "kubernetes.io/iscsi iqn.2026-01.example:disk 0",
    ],
    ["one of several ports", { fc: { targetWWNs: wwns, lun: 2 } }, "kubernetes.io/fc 50014380186bc660 2"],
    ["in any order", { fc: { targetWWNs: [...wwns].reverse(), lun: 2 } }, "kubernetes.io/fc 50014380186bc660 2"],
    ["by text, as sysfs has it", { fc: { wwids: ["t10.IET     00010001"] } }, "kubernetes.io/fc 1IET_00010001"],
    ["by text, as udev has it", { fc: { wwids: ["1IET_00010001"] } }, "kubernetes.io/fc 1IET_00010001"],
    ["by a name of SCSI", { fc: { wwids: ["scsi.Disk-A"] } }, "kubernetes.io/fc 8Disk-A"],
    ["by the name that sysfs has", { fc: { wwids: ["naa.600508B400105E21"] } }, "kubernetes.io/fc 3600508b400105e21"],
    ["by the name that udev has", { fc: { wwids: ["3600508b400105e21"] } }, "kubernetes.io/fc 3600508b400105e21"],
    ["by a vendor's words", { fc: { wwids: ["1ATA  Disk 7"] } }, "kubernetes.io/fc 1ATA_Disk_7"],
    ["an image of RBD", rbd(["10.0.0.2:3300", "10.0.0.1"]), "kubernetes.io/rbd 10.0.0.1 rbd/data"],
    ["by whatever port of its monitors", rbd(["10.0.0.1:6789"], "rbd"), "kubernetes.io/rbd 10.0.0.1 rbd/data"],
    ["by IPv6", rbd(["[FD00::1]:6789"], "p"), "kubernetes.io/rbd [fd00::1] p/data"],
    ["what is made for many nodes", { nfs: { server: "s", path: "/" } }, ""],
    ["a disk of the node itself", { local: { path: "/dev/sdb" } }, ""],
  ];
  for (const [what, source, id] of disks) it(what, () => expect(idOf(source)).to.equal(id));

  it("names every source that is guarded, but those of CSI drivers, and no other", () => {
    const known = disks.map(([, source]) => source);
    const named = sourceTypes.filter((type) => known.some((source) => source[type] !== undefined && diskOf(source)));
    const guarded = sourceTypes.filter((type) => sourceTraits[type].guarded && !isCSI({ [type]: {} }));
    expect(guarded).to.deep.equal(named);
    expect(known.filter(isGuarded)).to.deep.equal(known.filter(diskOf));
  });
});

import { expect } from "chai";
import type { AttachedVolume } from "../../../../src/api/types.gen.ts";
import { attachedReason, type NamedDisk, tieOf } from "../../../../src/plugins/api/attached-volume.ts";

const volumeOf = (driver: string, volumeHandle: string, ...names: string[]): AttachedVolume => ({
  volumeAttachment: "csi-1",
  driver,
  volumeHandle,
  names,
});
const uuid = "3d2f1c4e-0b6a-4f7e-9c1d-5a8b7c6d5e4f";
const ebs = volumeOf("ebs.csi.aws.com", "vol-05ece746e40ff492f", "/dev/xvdba");
const ebsDisk: NamedDisk = {
  name: "nvme1n1",
  serial: "vol05ece746e40ff492f",
  ids: ["nvme-Amazon_Elastic_Block_Store_vol05ece746e40ff492f"],
  paths: ["pci-0000:00:1b.0-nvme-1"],
};
const own: NamedDisk = {
  name: "nvme0n1",
  serial: "S4EVNX0R123456",
  wwid: "eui.0025385b71b0abcd",
  ids: ["nvme-SAMSUNG_MZVLB1T0_S4EVNX0R123456", "nvme-eui.0025385b71b0abcd"],
  paths: ["pci-0000:03:00.0-nvme-1"],
};

describe("the disk of a VolumeAttachment", () => {
  for (const [what, volume, disk] of [
    ["EBS: the serial number", ebs, { name: "nvme1n1", serial: "vol05ece746e40ff492f" }],
    ["EBS: the link alone", ebs, { name: "nvme1n1", ids: ["nvme-Amazon_Elastic_Block_Store_vol05ece746e40ff492f"] }],
    [
      "GCE: the last part of the handle",
      volumeOf("pd.csi.storage.gke.io", "projects/p/zones/z/disks/mysql-pool1"),
      { name: "sdb", ids: ["google-mysql-pool1"] },
    ],
    [
      "GCE: a disk with a short name",
      volumeOf("pd.csi.storage.gke.io", "projects/p/zones/z/disks/data"),
      { name: "sdb", ids: ["scsi-0Google_PersistentDisk_data"] },
    ],
    [
      "Azure: the LUN",
      volumeOf("disk.csi.azure.com", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/pvc-1", "3"),
      { name: "sdc", paths: ["acpi-VMBUS:01-vmbus-f8b3781b1e824818a1c363d806ec15bb-lun-3"] },
    ],
    [
      "vSphere: diskUUID",
      volumeOf("csi.vsphere.vmware.com", "a-handle", "6000c2906bbbe9fcd67bb7a83dea6a39"),
      { name: "sdb", wwid: "naa.6000c2906bbbe9fcd67bb7a83dea6a39" },
    ],
    ["Cinder: 20 characters", volumeOf("cinder.csi.openstack.org", uuid), { name: "vdb", serial: uuid.slice(0, 20) }],
    [
      "Cinder: all of it",
      volumeOf("cinder.csi.openstack.org", uuid),
      { name: "sdb", ids: [`scsi-0QEMU_QEMU_HARDDISK_${uuid}`] },
    ],
    [
      "Hetzner: a number",
      volumeOf("csi.hetzner.cloud", "101330357"),
      { name: "sdb", ids: ["scsi-0HC_Volume_101330357"] },
    ],
    [
      "DigitalOcean: the volume's name",
      volumeOf("dobs.csi.digitalocean.com", uuid, "pvc-0a1b"),
      { name: "sda", ids: ["scsi-0DO_Volume_pvc-0a1b"] },
    ],
    [
      "Longhorn: the IQN",
      volumeOf("driver.longhorn.io", `pvc-${uuid}`),
      { name: "sdb", paths: [`ip-10.42.0.5:3260-iscsi-iqn.2019-10.io.longhorn:pvc-${uuid}-lun-1`] },
    ],
    [
      "a link that is named",
      volumeOf("x.example", "1", "/dev/disk/by-id/wwn-0x5000"),
      { name: "sdb", ids: ["wwn-0x5000"] },
    ],
  ] as const) {
    it(`${what}`, () => {
      expect(tieOf(volume, disk)).to.equal("surely");
      expect(tieOf(volume, own), "no other").to.equal(undefined);
    });
  }

  it("is told by the kernel's name only perhaps: a cloud predicts it", () => {
    expect(tieOf(ebs, { name: "xvdba" })).to.equal("perhaps");
  });

  for (const [what, volume, disk, tie] of [
    [
      "a GCE disk whose name ends or begins with that of another",
      volumeOf("pd.csi.storage.gke.io", "projects/p/zones/z/disks/data"),
      { name: "sdb", ids: ["google-old-data", "scsi-0Google_PersistentDisk_old-data"] },
      "perhaps",
    ],
    [
      "a GCE disk whose long name is in that of another",
      volumeOf("pd.csi.storage.gke.io", "projects/p/zones/z/disks/mysql-pool-primary"),
      { name: "sdb", ids: ["google-mysql-pool-primary-2"] },
      "perhaps",
    ],
    [
      "a volume whose name is the end of a link",
      volumeOf("disk.example", "data"),
      { name: "sdb", ids: ["ata-DISK_data"] },
      "perhaps",
    ],
    [
      "a long name without digits of a UUID",
      volumeOf("disk.example", "mysql-pool-primary"),
      { name: "sdb", ids: ["scsi-mysql-pool-primary-2"] },
      "perhaps",
    ],
    [
      "a LUN of another controller than Azure's of data disks",
      volumeOf("disk.csi.azure.com", "a/disks/pvc-1", "0"),
      {
        name: "sda",
        paths: ["acpi-VMBUS:00-vmbus-f8b3781a1e824818a1c363d806ec15bb-lun-0", "ip-10.0.0.1:3260-iscsi-iqn.a:b-lun-0"],
      },
      undefined,
    ],
  ] as const) {
    it(`is not told from others by ${what}`, () => {
      expect(tieOf(volume, disk)).to.equal(tie);
      const how = { disks: [own, disk], named: false };
      expect(attachedReason(own, [volume], how)?.volume, "it may be any disk of the node").to.equal(volume);
    });
  }

  it("is not told by a text that many have: a LUN, a number", () => {
    const disk = { name: "sda", ids: ["ata-1"], paths: ["pci-0000:00:1f.2-ata-1", "pci-0-lun-1"], serial: "1" };
    expect(tieOf(volumeOf("x.example", "1", "1"), disk)).to.equal(undefined);
  });
});

describe("whether VolumeAttachments leave a disk free", () => {
  const disks = [own, ebsDisk];
  const of = { persistentVolume: "pvc-7", claim: "db/data" };

  it("not the attached one, also where people have named it; driver, PersistentVolume and claim are named", () => {
    const found = attachedReason(ebsDisk, [{ ...ebs, ...of }], { disks, named: true });
    expect(found?.text).to.equal(
      "it is attached to the node by ebs.csi.aws.com as PersistentVolume pvc-7 of claim db/data (VolumeAttachment csi-1)",
    );
  });

  it("the node's own beside one that is tied to another disk", () => {
    expect(attachedReason(own, [ebs], { disks, named: false })).to.equal(undefined);
  });

  it("none that nobody has named beside one that is tied to no disk: its device may be this one", () => {
    const strange = volumeOf("disk.example", "7f");
    const found = attachedReason(own, [ebs, strange], { disks, named: false });
    expect(found?.text).to.match(
      /^it may be the disk .* by disk\.example as 7f .*name the disk by byID, wwid or serial/,
    );
    expect(attachedReason(own, [ebs, strange], { disks, named: true })).to.equal(undefined);
  });

  it("nor beside one that is tied by the kernel's name alone, or whose PersistentVolume is gone", () => {
    const xen = [{ ...own, name: "xvda" }, { name: "xvdba" }];
    expect(attachedReason({ ...own, name: "xvda" }, [ebs], { disks: xen, named: false })?.volume).to.equal(ebs);
    const gone: AttachedVolume = { volumeAttachment: "csi-2", driver: "ebs.csi.aws.com" };
    expect(attachedReason(own, [gone], { disks, named: false })?.volume).to.equal(gone);
  });

  it("the node's own beside images of Ceph, which are no disks before a driver maps them", () => {
    for (const driver of ["rook-ceph.rbd.csi.ceph.com", "rbd.csi.ceph.com", "cephfs.csi.ceph.com"])
      expect(attachedReason(own, [volumeOf(driver, "0001-a")], { disks, named: false })).to.equal(undefined);
    const other = volumeOf("notrbd.csi.ceph.com", "0001-a");
    expect(attachedReason(own, [other], { disks, named: false })?.volume).to.equal(other);
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import { attachedBy } from "../../../../../src/host/linux/device/attached-by.ts";

/** A tree that is made, not sysfs: places as Linux 6.1 has them. */
describe("by what a disk is attached", () => {
  let sys: string;

  beforeEach(() => {
    sys = realpathSync(mkdtempSync(`${tmpdir()}/nvo-attached-`));
    mkdirSync(`${sys}/dev/block`, { recursive: true });
  });
  afterEach(() => rmSync(sys, { recursive: true }));

  function put(file: string, text: string): void {
    mkdirSync(dirname(`${sys}/${file}`), { recursive: true });
    writeFileSync(`${sys}/${file}`, text);
  }
  function device(place: string, number: string): void {
    put(`${place}/dev`, `${number}\n`);
    symlinkSync(`${sys}/${place}`, `${sys}/dev/block/${number}`);
  }

  const pci = "devices/pci0000:00/0000:00:04.0";
  for (const [place, by] of [
    ["devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sdb", "iscsi"],
    [`${pci}/host3/rport-3:0-1/target3:0:1/3:0:1:0/block/sdc`, "fc"],
    [`${pci}/ata1/host0/target0:0:0/0:0:0:0/block/sda`, undefined],
    ["devices/virtual/block/rbd0", "rbd"],
    ["devices/virtual/block/nbd1", "nbd"],
    ["devices/virtual/block/rnbd0", "rnbd"],
    ["devices/virtual/block/drbd1000", "drbd"],
    ["devices/virtual/block/etherd!e1.1", "etherd"],
    [`${pci}/infiniband_srp/host9/port-9:1/target9:0:0/9:0:0:0/block/sdd`, "srp"],
    [`${pci}/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0/block/sde`, undefined],
    [`${pci}/host1/port-1:1/expander-1:0/port-1:0:3/end_device-1:0:3/target1:0:3/1:0:3:0/block/sdf`, undefined],
    ["devices/platform/vhci_hcd.0/usb5/5-1/5-1:1.0/host3/target3:0:0/3:0:0:0/block/sdg", "usbip"],
    ["devices/virtual/block/ublkb0", "ublk"],
    ["devices/virtual/vduse/disk/disk/virtio4/block/vdb", "vduse"],
    ["devices/tcm_loop_0/tcm_loop_adapter_0/host4/target4:0:1/4:0:1:0/block/sdh", "a SCSI target of this node"],
    [`${pci}/virtio1/block/vda`, undefined], // a hypervisor's, as Xen's: docs/security.md
    ["devices/vbd-51728/block/xvdb", undefined],
    ["devices/virtual/block/loop1", undefined],
  ] as const) {
    it(`${place}: ${by ?? "it is the node's own"}`, () => {
      device(place, "8:16");
      put(`${place}/sub1/partition`, "1");
      device(`${place}/sub1`, "8:17");
      expect([attachedBy(sys, "8:16"), attachedBy(sys, "8:17")]).to.deep.equal([by, by]);
    });
  }

  it("a loop device on a disk, and a partition of it: by what that disk is", () => {
    device("devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sdb", "8:16");
    device("devices/virtual/block/loop5", "7:5");
    put("devices/virtual/block/loop5/loop/backing_file", "/dev/sdb");
    put("devices/virtual/block/loop5/loop5p1/partition", "1");
    device("devices/virtual/block/loop5/loop5p1", "259:1");
    device("devices/virtual/block/loop6", "7:6");
    put("devices/virtual/block/loop6/loop/backing_file", "/var/file");
    const beneath = (name: string) => (name === "loop5" ? "8:16" : undefined);
    const by = ["7:5", "259:1", "7:6"].map((number) => attachedBy(sys, number, beneath));
    expect(by).to.deep.equal(["iscsi", "iscsi", undefined]);
  });

  for (const [transport, by] of [
    ["pcie", undefined],
    ["tcp", "nvme over tcp"],
    ["rdma", "nvme over rdma"],
    ["fc", "nvme over fc"],
    ["loop", "nvme over loop"],
  ] as const) {
    it(`a namespace whose controller has transport ${transport}, with and without native multipath`, () => {
      device("devices/virtual/nvme-fabrics/ctl/nvme1/nvme1n1", "259:1");
      put("devices/virtual/nvme-fabrics/ctl/nvme1/transport", `${transport}\n`);
      device("devices/virtual/nvme-subsystem/nvme-subsys2/nvme2n1", "259:2");
      mkdirSync(`${sys}/devices/virtual/nvme-fabrics/ctl/nvme2`);
      put("devices/virtual/nvme-fabrics/ctl/nvme2/transport", `${transport}\n`);
      const controller = `${sys}/devices/virtual/nvme-fabrics/ctl/nvme2`;
      symlinkSync(controller, `${sys}/devices/virtual/nvme-subsystem/nvme-subsys2/nvme2`);
      expect([attachedBy(sys, "259:1"), attachedBy(sys, "259:2")]).to.deep.equal([by, by]);
    });
  }

  it("what is made of several disks is attached as one of them is", () => {
    device("devices/virtual/block/dm-0", "254:0");
    device("devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sdb", "8:16");
    mkdirSync(`${sys}/devices/virtual/block/dm-0/slaves`);
    symlinkSync(`${sys}/dev/block/8:16`, `${sys}/devices/virtual/block/dm-0/slaves/sdb`);
    expect(attachedBy(sys, "254:0")).to.equal("iscsi");
  });

  it("one that has gone meanwhile is nobody's", () => expect(attachedBy(sys, "8:99")).to.equal(undefined));
});

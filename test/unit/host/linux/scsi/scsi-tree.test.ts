import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { readScsi } from "../../../../../src/host/linux/scsi/scsi-tree.ts";
import { addressOf, isAt, isLun, isNamed, type ScsiDisk, scanFor } from "../../../../../src/host/ports/scsi.ts";

/** A tree that is made, not sysfs: attributes and links as Linux 6.1 has them of a Fibre Channel LUN with two paths. */
describe("SCSI disks of sysfs", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "nvo-scsi-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const put = (path: string, text: string | Uint8Array = "") => {
    mkdirSync(dirname(`${root}/${path}`), { recursive: true });
    writeFileSync(`${root}/${path}`, text);
  };
  const disk = (address: string, name: string, facts: { wwid?: string; map?: string; device?: string } = {}) => {
    const device = `sys/class/scsi_device/${address}/device`;
    put(`${device}/state`, "running\n");
    put(`${device}/block/${name}/dev`, `8:${name.charCodeAt(2) * 16}\n`);
    put(`${device}/block/${name}/size`, "131072\n");
    put(`${device}/block/${name}/diskseq`, "7\n");
    if (facts.wwid !== undefined) put(`${device}/wwid`, `${facts.wwid}\n`);
    if (facts.map !== undefined) put(`${device}/block/${name}/holders/${facts.map}/uevent`);
  };
  const look = () => {
    const [sys, dev, udev] = [`${root}/sys`, `${root}/dev`, `${root}/udev`];
    return readScsi({ sys, dev, udev, sockets: `${root}/unix`, bootID: "b" });
  };

  it("are told with address, size, names and the map that multipath has made of them", () => {
    disk("2:0:0:1", "sdb", { wwid: "naa.6001405abc", map: "dm-3" });
    disk("10:0:0:1", "sdc", { wwid: "naa.6001405abc", map: "dm-3" });
    put("sys/block/dm-3/dm/uuid", "mpath-36001405abc\n");
    put("sys/block/dm-3/dm/name", "mpatha\n");
    put("sys/block/dm-3/dev", "254:3\n");
    for (const name of ["sdb", "sdc"]) put(`sys/block/dm-3/slaves/${name}`);
    put("sys/block/dm-3/size", "131072\n");
    mkdirSync(`${root}/dev/disk/by-id`, { recursive: true });
    symlinkSync("../../sdb", `${root}/dev/disk/by-id/scsi-36001405abc`);
    symlinkSync("../gone", `${root}/sys/block/dm-3/slaves/sdd`); // as of a disk that was deleted while the map has it
    put("udev/b8:1568");
    const { disks } = look();
    expect(disks.map(({ name }) => name)).to.deep.equal(["sdb", "sdc"]);
    expect(disks[0]).to.deep.equal({
      name: "sdb",
      deviceNumber: "8:1568",
      address: { host: 2, channel: 0, target: 0, lun: 1 },
      state: "running",
      sizeBytes: 64 * 1024 * 1024,
      names: ["36001405abc"],
      wwid: "naa.6001405abc",
      lasting: "naa.6001405abc",
      ids: ["scsi-36001405abc"],
      told: true,
      map: {
        name: "mpatha",
        device: "dm-3",
        deviceNumber: "254:3",
        sizeBytes: 64 * 1024 * 1024,
        paths: ["sdb", "sdc"],
      },
    });
  });

  it("without a name of their own are told by the kernel's count, in this boot alone", () => {
    disk("2:0:0:1", "sdb");
    expect(look().disks[0]).to.include({ lasting: "disk 7 of boot b", told: false });
  });

  it("leaves out what is no disk, and what has no block device yet; a map of LVM is none of multipath", () => {
    put("sys/class/scsi_device/0:0:0:0/device/block/sr0/dev", "11:0\n");
    put("sys/class/scsi_device/0:0:0:1/device/state", "running\n");
    disk("2:0:0:1", "sdb", { map: "dm-0" });
    put("sys/block/dm-0/dm/uuid", "LVM-abc\n");
    const { disks } = look();
    expect(disks.map(({ name, map }) => [name, map])).to.deep.equal([["sdb", undefined]]);
  });

  it("knows remote ports that are targets, sessions of iSCSI, hosts, and whether multipathd listens", () => {
    const port = (name: string, target: string, wwn: string) => {
      put(`sys/class/fc_remote_ports/${name}/scsi_target_id`, `${target}\n`);
      put(`sys/class/fc_remote_ports/${name}/port_name`, `${wwn}\n`);
      put(`sys/class/fc_remote_ports/${name}/port_state`, "Online\n");
    };
    port("rport-7:0-3", "2", "0x50060e801049cfd1");
    port("rport-7:0-4", "-1", "0x50060e801049cfd2");
    put("sys/devices/platform/host9/session4/uevent");
    put("sys/class/iscsi_session/session4/targetname", "iqn.2026-11.example:a\n");
    put("sys/class/iscsi_session/session4/state", "LOGGED_IN\n");
    symlinkSync(`${root}/sys/devices/platform/host9/session4`, `${root}/sys/class/iscsi_session/session4/device`);
    put("sys/class/scsi_host/host7/proc_name", "qla2xxx\n");
    put("unix", "0: 00000002 0 10000 1 01 100 @/org/kernel/linux/storage/multipathd\n");
    const { ports, hosts, multipathd } = look();
    const fc = { host: 7, channel: 0, target: 2, kind: "fc", wwn: "50060e801049cfd1", state: "Online" };
    const iqn = "iqn.2026-11.example:a";
    const iscsi = { host: 9, channel: 0, target: 0, kind: "iscsi", session: "session4", iqn, state: "LOGGED_IN" };
    expect(ports).to.deep.equal([fc, iscsi]);
    expect(hosts).to.deep.equal([{ host: 7, driver: "qla2xxx" }]);
    expect(multipathd).to.equal(true);
    expect(ports.filter((one) => isAt(one, { host: 7, channel: 0, target: 2 }))).to.have.length(1);
  });

  it("of a machine without SCSI are none", () => {
    expect(look()).to.deep.equal({ disks: [], ports: [], hosts: [], multipathd: false });
    for (const text of ["target2:0:0", "2:0:0", "a:b:c:d"]) expect(addressOf(text)).to.equal(undefined);
  });
});

describe("what is asked of a SCSI disk", () => {
  const known: ScsiDisk = {
    name: "sdb",
    deviceNumber: "8:16",
    address: { host: 2, channel: 0, target: 0, lun: 0x4000 | 300 },
    state: "running",
    sizeBytes: 1,
    names: ["36001405abc", "1LIO-ORG_disk-a"],
    wwid: "naa.6001405abc",
    ids: ["scsi-SLIO-ORG_disk-a_6001405"],
    told: false,
  };

  it("is its LUN, whatever way it is told, and the scan that finds it", () => {
    expect(isLun(5, 5)).to.equal(true);
    expect(isLun(known.address.lun, 300)).to.equal(true);
    expect(isLun(0x4000 | 5, 5)).to.equal(false);
    expect(isLun(5, 6)).to.equal(false);
    expect(scanFor(known.address, 5)).to.deep.equal({ host: 2, channel: 0, target: 0, lun: 5 });
    expect(scanFor(known.address, 300)).to.deep.equal({ host: 2, channel: 0, target: 0 });
  });

  it("is a name in the words of core/v1, sysfs or udev, and no part of one", () => {
    for (const name of ["36001405abc", "naa.6001405abc", "1LIO-ORG disk-a", "SLIO-ORG_disk-a_6001405"]) {
      expect(isNamed(known, name), name).to.equal(true);
    }
    for (const name of ["6001405abc", "36001405ab", "LIO-ORG"]) expect(isNamed(known, name), name).to.equal(false);
  });
});

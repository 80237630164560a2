import { constants, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import {
  exportElsewhere,
  exportOf,
  ofNode,
  unknownExport,
} from "../../../../../src/host/linux/evidence/kernel-exports.ts";
import { Descriptor } from "../../../../../src/host/linux/syscall/descriptor.ts";

const lio = (path: string) =>
  `Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 16384\n        TCM FILE ID: 0        File: ${path}  Size: 50331648  Mode: O_DSYNC Async: 0\n`;

/** A tree that is made, not configfs: test/vm/guest/served-disks.ts has the kernel's own. */
describe("what the kernel serves to others", () => {
  let host: string;

  beforeEach(() => {
    host = realpathSync(mkdtempSync(`${tmpdir()}/nvo-exports-`));
  });
  afterEach(() => rmSync(host, { recursive: true }));

  const config = () => `${host}/sys/kernel/config`;
  const sys = () => `${host}/sys`;
  function put(files: { readonly [file: string]: string }, beneath = config()): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(`${beneath}/${file}`), { recursive: true });
      writeFileSync(`${beneath}/${file}`, text);
    }
  }
  const short = (place?: string) => place?.replace(/^.*\/(kernel\/config|rnbd-server)\//, "");
  /** @param node where the device 8:16 is */
  function served(node: string, fsType = "configfs"): string | undefined {
    const look = (path: string) => (path === node ? ({ kind: "block", number: "8:16" } as const) : undefined);
    return short(exportOf(["8:0", "8:16"], { mounts: [{ fsType, point: config() }], sys: sys(), look }));
  }
  /** As the kernel has it, looked at on the real file system, where nothing is a disk. */
  function unknown(deviceNumber = "8:16", others: readonly { fsType: string; point: string }[] = []) {
    return short(
      unknownExport([deviceNumber], { mounts: [{ fsType: "configfs", point: config() }, ...others], sys: sys() }),
    );
  }
  /** An NVMe disk 259:0 with its controller 1:7, which is /dev/full's number. */
  function nvmeDisk(): void {
    put({ "devices/pci0/nvme/nvme0/dev": "1:7\n", "devices/pci0/nvme/nvme0/nvme0n1/dev": "259:0\n" }, sys());
    mkdirSync(`${sys()}/dev/block`, { recursive: true });
    symlinkSync(`${sys()}/devices/pci0/nvme/nvme0/nvme0n1`, `${sys()}/dev/block/259:0`);
  }

  const nvme = "nvmet/subsystems/nqn.2014-08.org.example:a/namespaces/7";
  const passthru = "nvmet/subsystems/nqn.2014-08.org.example:a/passthru";
  const fileio = "target/core/fileio_0/a";
  const usb = "usb_gadget/g1/functions/mass_storage.0/lun.0";
  for (const [what, files, place] of [
    ["a namespace of an NVMe target", { [`${nvme}/device_path`]: "/dev/sdb\n", [`${nvme}/enable`]: "1\n" }, nvme],
    ["one that is off", { [`${nvme}/device_path`]: "/dev/sdb\n", [`${nvme}/enable`]: "0\n" }, undefined],
    ["one of another disk", { [`${nvme}/device_path`]: "/dev/sdc\n", [`${nvme}/enable`]: "1\n" }, undefined],
    ["a file of LIO that is a disk", { [`${fileio}/info`]: lio("/dev/sdb"), [`${fileio}/enable`]: "1\n" }, fileio],
    ["one that was never configured", { [`${fileio}/info`]: lio(""), [`${fileio}/enable`]: "0\n" }, undefined],
    ["USB mass storage", { [`${usb}/file`]: "/dev/sdb\n" }, usb],
    ["USB mass storage without a medium", { [`${usb}/file`]: "\n" }, undefined],
    ["a passed through controller, but for no disk", { [`${passthru}/device_path`]: "/dev/sdb\n" }, undefined],
  ] as const) {
    it(what, () => {
      put(files);
      expect(served(`${host}/dev/sdb`)).to.equal(place);
    });
  }

  it("a disk as a container names it, and as this process does", () => {
    put({ [`${usb}/file`]: "/host/dev/disk/by-id/wwn-1\n" });
    expect(served(`${host}/dev/disk/by-id/wwn-1`)).to.equal(usb);
    expect(served("/dev/disk/by-id/wwn-1")).to.equal(usb);
  });

  it("a disk by a path that is not in /dev, and by one of kubelet's, in which /dev/ is not that of the node", () => {
    for (const path of ["/srv/b", "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv/dev/uid"]) {
      put({ [`${usb}/file`]: `${path}\n` });
      expect(served(`${host}${path}`), path).to.equal(usb);
    }
  });

  it("a disk by configfs that only somebody else has mounted", () => {
    put({ [`${fileio}/info`]: lio("/dev/sdb"), [`${fileio}/enable`]: "1\n" });
    const look = (path: string) => (path === "/dev/sdb" ? ({ kind: "block", number: "8:16" } as const) : undefined);
    const sources = { mounts: [], sys: sys(), look };
    expect(exportOf(["8:16"], sources)).to.equal(undefined);
    const fresh = () => new Descriptor(openSync(config(), constants.O_RDONLY));
    expect(exportOf(["8:16"], { ...sources, fresh })).to.equal(`/sys/kernel/config/${fileio}`);
    expect(exportOf(["8:32"], { ...sources, fresh })).to.equal(undefined);
    expect(exportOf(["8:16"], { ...sources, fresh: () => undefined }), "the kernel has none").to.equal(undefined);
  });

  it("a disk that is not in /dev, by configfs that is not mounted beneath the node's root", () => {
    put({ [`${usb}/file`]: "/srv/b\n" });
    const look = (path: string) => (path === "/host/srv/b" ? ({ kind: "block", number: "8:16" } as const) : undefined);
    const fresh = () => new Descriptor(openSync(config(), constants.O_RDONLY));
    const sources = { mounts: [], root: "/host", sys: sys(), look, fresh };
    expect(exportOf(["8:16"], sources)).to.equal(`/sys/kernel/config/${usb}`);
  });

  it("by the root directory that the device's node is in", () => {
    const mounts = ["/sys", "/host/sys", "/host/srv/chroot/sys"].map((point) => ({ fsType: "sysfs", point }));
    const root = (path: string) => ofNode(mounts, path).root;
    expect(["/host/dev/sdb", "/host/srv/sdb", "/dev/sdb", "/hosts/dev/sdb"].map(root)).to.deep.equal([
      "/host",
      "/host",
      "",
      "",
    ]);
    expect(ofNode([{ fsType: "tmpfs", point: "/host/sys" }], "/host/dev/sdb").root).to.equal("");
  });

  it("not the disk that a path leads to in another mount namespace, where a pod may have made the node", () => {
    nvmeDisk();
    put({ [`${passthru}/device_path`]: "/full\n", [`${passthru}/enable`]: "1\n" });
    const mounts = [{ fsType: "configfs", point: config() }];
    const sources = { mounts, sys: sys(), look: () => ({ kind: "controller", number: "1:3" }) as const };
    expect(exportElsewhere(["259:0"], sources)).to.equal(undefined);
    const others = () => [
      { pid: 1, root: `${host}/container`, mounts: [] },
      { pid: process.pid, root: "/dev", mounts: [] },
    ]; // has /dev/full
    expect(exportOf(["259:0"], { ...sources, others })).to.equal(undefined);
    const seen = exportElsewhere(["259:0"], { ...sources, others });
    expect(short(seen?.place), "told apart").to.equal(passthru);
    expect(seen?.user.pid, "whose it is").to.equal(process.pid);
    expect(exportElsewhere(["8:16"], { ...sources, others }), "another disk").to.equal(undefined);
    const hanging = () => [{ pid: 1, root: "/dev", mounts: [{ fsType: "nfs4", point: "/dev/full" }] }];
    expect(exportElsewhere(["259:0"], { ...sources, others: hanging }), "which is not looked at").to.equal(undefined);
  });

  it("nothing, where no configfs is mounted", () => {
    put({ [`${usb}/file`]: "/dev/sdb\n" });
    expect(served(`${host}/dev/sdb`, "tmpfs")).to.equal(undefined);
  });

  it("the disks of an NVMe controller that is passed through, by whatever path, and no others", () => {
    nvmeDisk();
    mkdirSync(`${host}/srv`);
    symlinkSync("/dev/full", `${host}/srv/link`);
    for (const path of ["/dev/full", `${host}/srv/link`]) {
      put({ [`${passthru}/device_path`]: `${path}\n`, [`${passthru}/enable`]: "1\n" }, `${host}/config`);
      const sources = { mounts: [{ fsType: "configfs", point: `${host}/config` }], sys: sys() };
      expect(exportOf(["259:0"], sources), path).to.equal(`${host}/config/${passthru}`);
      expect(exportOf(["8:16", "1:7"], sources), path).to.equal(undefined);
      expect(unknownExport(["259:0"], sources), path).to.equal(undefined);
    }
  });

  it("a disk, or a partition, that RNBD serves, without a configfs", () => {
    const devices = `${sys()}/class/rnbd-server/ctl/devices`;
    put({ "sdb/dev": "8:16\n", "sdb/sdb2/dev": "8:18\n" }, `${sys()}/block`);
    const rnbd = (...numbers: string[]) => short(exportOf(numbers, { mounts: [], sys: sys() }));
    for (const [name, number, other] of [
      ["sdb", "8:16", "8:18"],
      ["sdb2", "8:18", "8:16"],
      ["!dev!sdb2", "8:16", "8:18"],
    ] as const) {
      mkdirSync(`${devices}/${name}`, { recursive: true });
      symlinkSync(`${sys()}/block/sdb`, `${devices}/${name}/block_dev`);
      expect(rnbd(number), name).to.equal(`ctl/devices/${name}`);
      expect(rnbd(other, "8:0"), name).to.equal(undefined);
      rmSync(`${devices}/${name}`, { recursive: true });
    }
  });

  describe("of which nobody can tell whether it is a disk", () => {
    it("is what is on and names neither a block device nor a file", () => {
      for (const path of ["/srv/sdb", "/dev/nvo-not-there", "relative", "/srv"]) {
        put({ [`${nvme}/device_path`]: `${path}\n`, [`${nvme}/enable`]: "1\n" });
        expect(unknown(), path).to.equal(nvme);
        put({ [`${nvme}/enable`]: "0\n" });
        expect(unknown(), `${path}, off`).to.equal(undefined);
      }
    });

    it("is nothing that names a file, by links too, nor what names nothing", () => {
      put({ sdb: "" }, `${host}/srv`);
      symlinkSync("/srv/sdb", `${host}/srv/link`);
      symlinkSync("./link", `${host}/srv/second`);
      for (const path of ["/srv/sdb", "/srv/second", ""]) {
        put({ [`${usb}/file`]: `${path}\n` });
        expect(unknown(), path).to.equal(undefined);
      }
    });

    it("is what leads to a file in another mount namespace alone, by whatever links", () => {
      put({ "srv/sdb": "" }, `${host}/container`);
      symlinkSync("/srv/sdb", `${host}/container/link`);
      put({ [`${usb}/file`]: "/link\n" });
      const mounts = [{ fsType: "configfs", point: config() }];
      const others = () => [{ pid: 1, root: `${host}/container`, mounts: [] }];
      expect(short(unknownExport(["8:16"], { mounts, sys: sys(), others }))).to.equal(usb);
    });

    it("is what leads to a device in another mount namespace alone: a pod may have made that node", () => {
      nvmeDisk();
      put({ [`${passthru}/device_path`]: "/full\n", [`${passthru}/enable`]: "1\n" });
      const mounts = [{ fsType: "configfs", point: config() }];
      const others = () => [{ pid: 1, root: "/dev", mounts: [] }]; // has /dev/full
      expect(short(unknownExport(["259:0"], { mounts, sys: sys(), others }))).to.equal(passthru);
    });

    it("is nothing that one of two mounts of configfs shows to be a file of the node", () => {
      put({ sdb: "" }, `${host}/srv`);
      put({ [`${usb}/file`]: "/srv/sdb\n" });
      const mounts = [{ fsType: "configfs", point: config() }];
      const fresh = () => new Descriptor(openSync(config(), constants.O_RDONLY));
      expect(unknownExport(["8:16"], { mounts: [], sys: sys(), fresh })).to.equal(`/sys/kernel/config/${usb}`);
      expect(unknownExport(["8:16"], { mounts, sys: sys(), fresh })).to.equal(undefined);
    });

    it("is nothing that leads to a file of the node, where configfs is not mounted beneath its root", () => {
      put({ sdb: "" }, `${host}/srv`);
      put({ [`${usb}/file`]: "/srv/sdb\n" });
      const fresh = () => new Descriptor(openSync(config(), constants.O_RDONLY));
      expect(unknownExport(["8:16"], { mounts: [], root: host, sys: sys(), fresh })).to.equal(undefined);
      const hanging = [{ fsType: "nfs4", point: `${host}/srv` }];
      const found = unknownExport(["8:16"], { mounts: hanging, root: host, sys: sys(), fresh });
      expect(found, "that may hang").to.equal(`/sys/kernel/config/${usb}`);
    });

    it("is nothing that one of two mounts shows to be a file, wherever configfs is mounted", () => {
      put({ sdb: "" }, `${host}/srv`);
      put({ [`${usb}/file`]: "/srv/sdb\n" });
      symlinkSync(config(), `${host}/config`);
      const mounts = [`${host}/config`, config()].map((point) => ({ fsType: "configfs", point }));
      expect(unknownExport(["8:16"], { mounts: mounts.slice(0, 1), sys: sys() })).to.equal(`${host}/config/${usb}`);
      expect(unknownExport(["8:16"], { mounts, sys: sys() })).to.equal(undefined);
    });

    it("is what names a file on a file system that may hang, which is not looked at, or links without an end", () => {
      put({ sdb: "" }, `${host}/mnt`);
      symlinkSync("endless", `${host}/endless`);
      symlinkSync("mnt", `${host}/link`);
      put({ [`${usb}/file`]: "/link/sdb\n" });
      expect(unknown("8:16", [{ fsType: "ext4", point: `${host}/mnt` }])).to.equal(undefined);
      expect(unknown("8:16", [{ fsType: "nfs4", point: `${host}/mnt` }])).to.equal(usb);
      put({ [`${usb}/file`]: "/endless\n" });
      expect(unknown()).to.equal(usb);
    });

    it("is a controller, for NVMe disks only", () => {
      nvmeDisk();
      put({ [`${passthru}/device_path`]: "/dev/nvo-not-there\n", [`${passthru}/enable`]: "1\n" });
      expect(unknown("259:0")).to.equal(passthru);
      expect(unknown("8:16")).to.equal(undefined);
    });
  });
});

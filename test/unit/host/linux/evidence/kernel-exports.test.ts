import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import { exportOf } from "../../../../../src/host/linux/evidence/kernel-exports.ts";

const lio = (path: string) =>
  `Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 16384\n        TCM FILE ID: 0        File: ${path}  Size: 50331648  Mode: O_DSYNC Async: 0\n`;

/** A tree that is made, not configfs: test/vm/guest/served-disks.ts has the kernel's own. */
describe("what the kernel serves to others", () => {
  let host: string;

  beforeEach(() => {
    host = mkdtempSync(`${tmpdir()}/nvo-exports-`);
  });
  afterEach(() => rmSync(host, { recursive: true }));

  const config = () => `${host}/sys/kernel/config`;
  function put(files: { readonly [file: string]: string }): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(`${config()}/${file}`), { recursive: true });
      writeFileSync(`${config()}/${file}`, text);
    }
  }
  /** @param node where the device 8:16 is */
  function served(node: string, fsType = "configfs"): string | undefined {
    const look = (path: string) => (path === node ? "8:16" : undefined);
    return exportOf(["8:0", "8:16"], [{ fsType, point: config() }], look)?.replace(/^\/sys\/kernel\/config\//, "");
  }

  const nvme = "nvmet/subsystems/nqn.2014-08.org.example:a/namespaces/7";
  const usb = "usb_gadget/g1/functions/mass_storage.0/lun.0";
  for (const [what, files, place] of [
    ["a namespace of an NVMe target", { [`${nvme}/device_path`]: "/dev/sdb\n", [`${nvme}/enable`]: "1\n" }, nvme],
    ["one that is off", { [`${nvme}/device_path`]: "/dev/sdb\n", [`${nvme}/enable`]: "0\n" }, undefined],
    ["one of another disk", { [`${nvme}/device_path`]: "/dev/sdc\n", [`${nvme}/enable`]: "1\n" }, undefined],
    ["one of a file", { [`${nvme}/device_path`]: "/srv/sdb\n", [`${nvme}/enable`]: "1\n" }, undefined],
    [
      "a file of LIO that is a disk",
      { "target/core/fileio_0/a/info": lio("/dev/sdb"), "target/core/fileio_0/a/enable": "1\n" },
      "target/core/fileio_0/a",
    ],
    [
      "one that was never configured",
      { "target/core/fileio_0/a/info": lio(""), "target/core/fileio_0/a/enable": "0\n" },
      undefined,
    ],
    ["USB mass storage", { [`${usb}/file`]: "/dev/sdb\n" }, usb],
    ["USB mass storage without a medium", { [`${usb}/file`]: "\n" }, undefined],
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

  it("nothing, where no configfs is mounted", () => {
    put({ [`${usb}/file`]: "/dev/sdb\n" });
    expect(served(`${host}/dev/sdb`, "tmpfs")).to.equal(undefined);
  });
});

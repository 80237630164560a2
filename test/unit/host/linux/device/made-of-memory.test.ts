import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { isMadeOfMemory } from "../../../../../src/host/linux/syscall/block-device.ts";

/** A tree that is made, not sysfs. */
describe("whether what is on a disk ends with the boot", () => {
  let sys: string;

  beforeEach(() => {
    sys = realpathSync(mkdtempSync(`${tmpdir()}/nvo-memory-`));
    mkdirSync(`${sys}/dev/block`, { recursive: true });
  });
  afterEach(() => rmSync(sys, { recursive: true }));

  for (const [place, expected] of [
    ["devices/virtual/block/zram0", true],
    ["devices/virtual/block/ram3", true],
    ["devices/virtual/block/ram3/ram3p1", true],
    ["devices/virtual/block/loop0", false],
    ["devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region0/namespace0.0/block/pmem0", false],
    ["devices/pci0000:00/0000:00:04.0/virtio1/block/vda", false],
  ] as const) {
    it(`${place}: ${expected ? "yes" : "no"}`, () => {
      mkdirSync(`${sys}/${place}`, { recursive: true });
      symlinkSync(`${sys}/${place}`, `${sys}/dev/block/252:0`);
      expect(isMadeOfMemory(sys, "252:0")).to.equal(expected);
    });
  }
});

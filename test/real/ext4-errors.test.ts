import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { ext4Errors } from "../../src/host/linux/device/disk-state.ts";
import { deviceNumberOf } from "../../src/host/linux/syscall/block-device.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";

describe("errors that the kernel has met in an ext4, on the real kernel", () => {
  let directory: string;

  before(function () {
    need(this, "root", "loop-devices", "mkfs.ext4", "ext4");
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nvo-errors-"));
    mkdirSync(`${directory}/mnt`);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it("are counted in sysfs, none at first, and none after e2fsck has looked through it", async () => {
    using disk = loopDevice(directory, "disk", 32);
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    const errors = () => ext4Errors("/sys", deviceNumberOf(statSync(disk.path)));
    const mounted = async (act: () => unknown) => {
      execFileSync("mount", [disk.path, `${directory}/mnt`]);
      try {
        await act();
      } finally {
        execFileSync("umount", [`${directory}/mnt`]);
      }
    };
    expect(errors(), "not mounted").to.equal(undefined);
    await mounted(async () => {
      expect(errors()).to.equal(undefined);
      writeFileSync(`/sys/fs/ext4/${disk.path.slice("/dev/".length)}/trigger_fs_error`, "tried");
      // A worker of the kernel's writes it to the superblock, which is what sysfs shows.
      await until("the error to be counted", 10_000, () => errors() !== undefined);
      expect(errors()).to.include({ count: 1, where: "trigger_test_error" });
    });
    await mounted(() => expect(errors()?.count, "it is in the superblock").to.equal(1));
    execFileSync("e2fsck", ["-p", disk.path], { stdio: "ignore" });
    await mounted(() => expect(errors()).to.equal(undefined));
  });
});

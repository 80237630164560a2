import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { expect } from "chai";
import { unmountExactly } from "../../src/host/linux/path/exact-unmount.ts";
import { openTarget } from "../../src/host/linux/path/walk.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { scratch } from "./scratch.ts";

describe("a file system that has shut down, and says nothing of its files any more", () => {
  const libc = loadLibc();

  before(function () {
    need(this, "root", "loop-devices", "mkfs.xfs", "xfs_io", "xfs");
  });

  for (const rung of ["Normal", "Force", "Lazy"] as const) {
    it(`is told by its mount, and unmounted (${rung})`, async () => {
      using place = scratch();
      const path = `${place.path}/mnt`;
      mkdirSync(path);
      using disk = loopDevice(place.path, "disk", 320);
      execFileSync("mkfs.xfs", ["-q", disk.path]);
      execFileSync("mount", [disk.path, path]);
      execFileSync("xfs_io", ["-x", "-c", "shutdown", path]);
      expect(() => statSync(path)).to.throw(/EIO/);
      const target = { prefix: place.path, path };
      const opened = openTarget(libc, target);
      const [mount] = place.mounts().filter(({ point }) => point === path);
      expect(opened?.stat).to.include({ mode: 0o040000, mountRoot: true, mountID: mount?.id });
      if (opened !== undefined) await unmountExactly(libc, target, opened, rung);
      expect(place.mounts().filter(({ point }) => point === path)).to.deep.equal([]);
    });
  }
});

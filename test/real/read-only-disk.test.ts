import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { VolumeError } from "../../src/errors.ts";
import type { StageContext, VolumeSpec } from "../../src/plugins/api/volume-plugin.ts";
import { stageDevice } from "../../src/plugins/local/local-device.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const megabytes = { ext4: 16, xfs: 320, btrfs: 128 } as const;

/** Another node may have the disk mounted for reading at the same moment: what one writes the other never sees. */
describe("a disk of a volume that is read-only, on the real kernel", () => {
  let node: RealNode;

  withNode(["loop-devices"], (made) => {
    node = made;
    mkdirSync(`${node.path}/fill`);
  });

  const digest = (name: string) => hash("sha256", readFileSync(`${node.path}/${name}`));

  /** Images of a file system with one file: `clean`, unmounted, and `cut`, as it was while that was written. */
  function fill(fsType: keyof typeof megabytes): void {
    using disk = loopDevice(node.path, "clean", megabytes[fsType]);
    execFileSync(`mkfs.${fsType}`, ["-q", disk.path]);
    execFileSync("mount", [disk.path, `${node.path}/fill`]);
    const file = openSync(`${node.path}/fill/file`, "w");
    writeSync(file, "data");
    fsyncSync(file);
    closeSync(file);
    copyFileSync(`${node.path}/clean`, `${node.path}/cut`);
    execFileSync("umount", [`${node.path}/fill`]);
  }

  /** Mounts an image as a LUN with readOnly is. @returns the reason, if it is refused */
  async function stage(name: string, mountOptions: readonly string[] = []): Promise<string | undefined> {
    const operation = { volume: "v", deadlineMs: 20_000, formatDeadlineMs: 20_000, onChild: () => Promise.resolve() };
    const { devices, mounter } = node.host.effects(operation);
    const { size } = statSync(`${node.path}/${name}`);
    const { path } = node.keep(loopDevice(node.path, name, size / 2 ** 20));
    const info = await mounter.inspect({ root: "/", path });
    const nothing = () => Promise.resolve();
    const context = {
      ...{ devices, mounter, record: nothing, recordFormatting: nothing, progress: nothing },
      stagingTarget: { prefix: `${node.path}/mnt`, path: node.target("a") },
    } as unknown as StageContext;
    const spec = { source: {}, mountOptions } as unknown as VolumeSpec;
    const found = { path, identity: info?.identity, deviceNumber: info?.deviceNumber } as never;
    return stageDevice(spec, found, context, { readOnly: true }).then(
      () => undefined,
      (error: unknown) => (error instanceof VolumeError ? error.reason : String(error)),
    );
  }

  for (const fsType of ["ext4", "xfs", "btrfs"] as const) {
    const test: typeof slow = fsType === "ext4" ? it : slow;
    test(`${fsType} that was unmounted is read, and no byte of it is changed`, async function () {
      need(this, `mkfs.${fsType}`, fsType);
      fill(fsType);
      const before = digest("clean");
      expect(await stage("clean", fsType === "ext4" ? ["data=ordered", "commit=30"] : [])).to.equal(undefined);
      expect(readFileSync(`${node.target("a")}/file`, "utf8")).to.equal("data");
      execFileSync("umount", [node.target("a")]);
      expect(digest("clean")).to.equal(before);
    });

    test(`${fsType} whose writer was cut off is ${fsType === "xfs" ? "read as it was" : "refused"}, and no byte of it is changed`, async function () {
      need(this, `mkfs.${fsType}`, fsType);
      fill(fsType);
      const before = digest("cut");
      expect(await stage("cut")).to.equal(fsType === "xfs" ? undefined : "JournalNotReplayed");
      if (fsType === "xfs") execFileSync("umount", [node.target("a")]);
      expect(digest("cut")).to.equal(before);
    });
  }
}).timeout(30_000);

import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("labels of file systems, on the real kernel", () => {
  let node: RealNode;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
  });

  const disk = (file: string, megabytes: number) => node.keep(loopDevice(`${node.path}/disks`, file, megabytes)).path;
  const labelOf = (path: string) =>
    execFileSync("blkid", ["-p", "-s", "LABEL", "-o", "value", path], { encoding: "utf8" }).trim();
  const want = (local: object, fsType?: "ext4" | "xfs") => {
    node.want(intent({ source: { local }, ...(fsType && { fsType }), mounts: [{ path: node.target("a") }] }));
    return node.volume(name);
  };

  for (const [fsType, megabytes] of [
    ["ext4", 32],
    ["xfs", 320],
  ] as const) {
    const test: typeof slow = fsType === "xfs" ? slow : it;
    test(`${fsType} gets the one that is asked for when it is made, and keeps the one that it has`, async function () {
      if (fsType === "xfs") need(this, "mkfs.xfs", "xfs");
      const [empty, made] = [disk("empty", megabytes), disk("made", megabytes)];
      expect((await want({ path: empty, fsLabel: "data-1.x_yz0" }, fsType)).failure?.message).to.equal(undefined);
      expect(labelOf(empty)).to.equal("data-1.x_yz0");
      execFileSync(`mkfs.${fsType}`, ["-q", "-L", "precious", made]);
      expect((await want({ path: made, fsLabel: "another" }, fsType)).failure?.message).to.equal(undefined);
      expect(labelOf(made)).to.equal("precious");
    });
  }

  for (const [what, label] of [
    ["a space", `of ${process.pid}`],
    ["what blkid and udev escape", `é"\\~ ${process.pid}`],
  ] as const) {
    const test: typeof slow = what === "a space" ? slow : it;
    test(`the disk with a label is found by it, also one with ${what}; others are named with theirs`, async () => {
      const [mine, other] = [disk("mine", 37), disk("other", 37)];
      execFileSync("mkfs.ext4", ["-q", "-L", label, mine]);
      execFileSync("mkfs.ext4", ["-q", "-L", "other", other]);
      const size = { minSize: "37Mi", maxSize: "37Mi" }; // of no other test
      const missing = await want({ disk: { transport: "loop", label: `no ${process.pid}`, ...size } });
      expect(missing.failure?.reason).to.equal("DiskNotFound");
      expect(missing.failure?.message).to.include("its label is other");
      node.forgetFailures();
      expect((await want({ disk: { transport: "loop", label } })).failure?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(mine);
    });
  }
});

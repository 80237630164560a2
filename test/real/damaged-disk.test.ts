import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("a disk whose file system was damaged, on the real kernel", () => {
  let node: RealNode;
  let disk: string;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
  });

  /** A file system with one file. @param debugfs commands that damage it */
  function damaged(...debugfs: readonly string[]): void {
    disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 32)).path;
    execFileSync("mkfs.ext4", ["-q", disk]);
    mkdirSync(`${node.path}/fill`);
    execFileSync("mount", [disk, `${node.path}/fill`]);
    writeFileSync(`${node.path}/fill/file`, "data");
    execFileSync("umount", [`${node.path}/fill`]);
    for (const command of debugfs) execFileSync("debugfs", ["-w", "-R", command, disk], { stdio: "ignore" });
  }
  const want = (options: { deleting?: boolean; generation?: number } = {}) =>
    node.want(intent({ source: { local: { path: disk } }, mounts: [{ path: node.target("a") }], ...options }));

  it("is mended before it is mounted, as far as that needs no question, and that is told (behaviour 119)", async () => {
    damaged("set_super_value free_blocks_count 1", "set_super_value state 2");
    want();
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    expect(readFileSync(`${node.target("a")}/file`, "utf8")).to.equal("data");
    expect(node.log.join("\n")).to.include(`e2fsck has repaired ${disk}`);
    want({ deleting: true, generation: 2 });
    expect((await node.volume(name)).phase).to.equal("released");
    execFileSync("e2fsck", ["-f", "-n", disk], { stdio: "ignore" }); // throws if anything is left
  });

  it("is neither mounted nor touched if there is a question, and comes by itself once it was answered", async () => {
    damaged("set_inode_field <2> mode 0", "set_super_value state 2");
    want();
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("FilesystemDamaged");
    expect(failure?.message).to.include(`e2fsck -f ${disk}`);
    expect(node.mountAt(node.target("a"))).to.equal(undefined);
    expect(() => execFileSync("e2fsck", ["-f", "-y", disk], { stdio: "ignore" })).to.throw(); // 1: it was mended
    node.forgetFailures();
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    expect(node.mountAt(node.target("a"))?.fsType).to.equal("ext4");
  });

  it("is not looked at by e2fsck while somebody has it mounted", async () => {
    damaged();
    execFileSync("mount", [disk, `${node.path}/fill`]);
    want();
    expect((await node.volume(name)).failure?.reason).to.equal("DeviceBusy");
    execFileSync("umount", [`${node.path}/fill`]);
  });

  it("whose journal is on a device that only its superblock names is not mounted, and that device not written to", async () => {
    const disks = `${node.path}/disks`;
    const journal = node.keep(loopDevice(disks, "journal", 16)).path;
    disk = node.keep(loopDevice(disks, "disk", 32)).path;
    execFileSync("mke2fs", ["-q", "-b", "4096", "-O", "journal_dev", journal]);
    execFileSync("mkfs.ext4", ["-q", "-b", "4096", "-J", `device=${journal}`, disk]);
    // As after a power cut: whoever mounts the disk replays the journal, and empties it.
    execFileSync("debugfs", ["-w", "-R", "feature needs_recovery", disk], { stdio: "ignore" });
    const written = () => execFileSync("sha256sum", [`${disks}/journal`], { encoding: "utf8" });
    execFileSync("sync");
    const before = written();
    want();
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("FilesystemUnsupported");
    expect(failure?.message).to.include(`${disk} has its journal on another device`);
    expect(node.mountAt(node.target("a"))).to.equal(undefined);
    execFileSync("sync");
    expect(written()).to.equal(before);
  });

  it("whose superblock has the node end at errors (errors=panic) does not, unless the set says so", async () => {
    damaged();
    execFileSync("tune2fs", ["-e", "panic", disk], { stdio: "ignore" });
    want();
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    const options = () => node.mountAt(node.target("a"))?.superOptions.filter((option) => option.startsWith("errors="));
    expect(options()).to.deep.equal(["errors=remount-ro"]);
    const asked = { fsType: "ext4" as const, mountOptions: ["errors=panic"], generation: 2 };
    node.want(intent({ source: { local: { path: disk } }, mounts: [{ path: node.target("a") }], ...asked }));
    await node.converge();
    expect(options(), "the default of its superblock is not shown").to.deep.equal([]);
  });

  it("of xfs with features that the kernel does not know is no matter of options", async function () {
    need(this, "mkfs.xfs", "xfs");
    disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 320)).path;
    execFileSync("mkfs.xfs", ["-q", disk]);
    execFileSync("xfs_db", ["-x", "-c", "sb 0", "-c", "write -d features_incompat 0x40000003", disk], {
      stdio: "ignore",
    });
    want();
    const { failure } = await node.volume(name);
    expect(failure).to.include({ reason: "FilesystemUnsupported", errorClass: "final" });
    expect(failure?.message).to.match(/^the kernel does not mount the xfs on \S+: .*features/);
  });

  slow("of xfs that is a copy of one that is mounted names that, and comes once that is unmounted", async function () {
    need(this, "mkfs.xfs", "xfs");
    const disks = `${node.path}/disks`;
    disk = node.keep(loopDevice(disks, "disk", 320)).path;
    execFileSync("mkfs.xfs", ["-q", disk]);
    execFileSync("sync", [disk]);
    const copy = node.keep(loopDevice(disks, "copy", 320)).path;
    execFileSync("dd", [`if=${disk}`, `of=${copy}`, "bs=1M", "conv=sparse,fsync", "status=none"]);
    mkdirSync(`${node.path}/fill`);
    execFileSync("mount", [copy, `${node.path}/fill`]);
    want();
    const { failure } = await node.volume(name);
    expect(failure).to.include({ reason: "FilesystemDuplicate", errorClass: "transient" });
    expect(failure?.message).to.include(`the one on ${copy}, which is mounted on ${node.path}/fill`);
    expect(failure?.on).to.deep.equal({ kind: "Mount", name: `${node.path}/fill` });
    execFileSync("umount", [`${node.path}/fill`]);
    node.forgetFailures();
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
  });

  it("of xfs, which the kernel refuses, names xfs_repair", async function () {
    need(this, "mkfs.xfs", "xfs");
    disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 320)).path;
    execFileSync("mkfs.xfs", ["-q", disk]);
    execFileSync("xfs_db", ["-x", "-c", "sb 0", "-c", "write -c icount 12345", disk], { stdio: "ignore" });
    want();
    const { failure } = await node.volume(name);
    expect([failure?.reason, failure?.message.includes(`xfs_repair ${disk}`)]).to.deep.equal([
      "FilesystemDamaged",
      true,
    ]);
  });
});

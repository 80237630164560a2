import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("release of volumes of a CSI driver, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  it("one that another mount namespace still shows is not released (safety rule 6)", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    const container = spawn("unshare", ["-m", "--propagation", "private", "sleep", "60"]);
    await once(container, "spawn");
    // Private before it is told apart: what is unmounted here stays there.
    execFileSync("sh", ["-c", `until grep -q 'sleep' /proc/${container.pid}/comm; do :; done`]);
    const held = await there.released();
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(held.failure?.message).to.include(`pid ${container.pid}`);
    expect(there.driver.kinds).not.to.include("unstage");
    container.kill();
    await once(container, "exit");
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
  });

  it("a directory of a disk that the node has mounted itself does not wait for the disk", async function () {
    need(this, "loop-devices", "mkfs.ext4");
    const { node, driver } = there;
    using disk = loopDevice(node.path, "shared-disk", 16);
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    const mounted = `${node.path}/shared`;
    mkdirSync(mounted);
    execFileSync("mount", [disk.path, mounted]);
    driver.directory = `${mounted}/volumes/one`;
    mkdirSync(driver.directory, { recursive: true });
    node.want(there.volume());
    await node.converge();
    expect((await there.released()).phase).to.equal("released");
    execFileSync("umount", [mounted]);
  });

  it("a directory of a disk that nothing shows any more, with a file open on it, waits for the disk (safety rule 6)", async function () {
    need(this, "loop-devices", "mkfs.ext4");
    const { node, driver } = there;
    using disk = loopDevice(node.path, "own-disk", 16);
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    const mounted = `${node.path}/own`;
    mkdirSync(mounted);
    execFileSync("mount", [disk.path, mounted]);
    driver.directory = `${mounted}/volumes/one`;
    mkdirSync(driver.directory, { recursive: true });
    node.want(there.volume());
    await node.converge();
    const journal = await node.journal();
    const record = journal.records.get(volumeName) ?? expect.fail("no record");
    // Of a pod in a namespace that is there to stay: the claim of the disk proves more.
    await journal.put({ ...record, copies: [{ namespace: readlinkSync("/proc/self/ns/mnt"), path: "/pod" }] });
    const writer = spawn("sh", ["-c", `exec 3>${driver.directory}/open; echo up; exec sleep 60`]);
    await once(writer.stdout, "data");
    execFileSync("umount", ["-l", mounted]);
    const held = await there.released();
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["DeviceBusy", true]);
    writer.kill();
    await once(writer, "exit");
    node.forgetFailures();
    expect((await node.volume(volumeName)).phase).to.equal("released");
  });

  it("a target in use stays, and the driver is not asked", async () => {
    there.node.want(there.volume({ mounts: [{ path: there.node.target("a") }] }));
    await there.node.converge();
    const sleeper = spawn("sleep", ["60"], { cwd: there.node.target("a") });
    await once(sleeper, "spawn");
    expect((await there.released()).failure?.reason).to.equal("TargetBusy");
    expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
    sleeper.kill();
    await once(sleeper, "exit");
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
  });

  describe("volumeMode Block", () => {
    let disk: string;
    before(function () {
      need(this, "loop-devices", "mkfs.ext4", "ext4");
    });
    beforeEach(() => {
      disk = there.node.keep(loopDevice(`${there.node.path}/disks`, "disk", 32)).path;
      there.driver.device = disk;
    });
    const block = (more: object = {}) =>
      there.volume({ volumeMode: "Block", mounts: [{ path: there.node.target("a") }], ...more });

    it("the target is the device", async () => {
      there.node.want(block());
      await there.node.converge();
      const size = execFileSync("blockdev", ["--getsize64", there.node.target("a")], { encoding: "utf8" });
      expect(Number(size)).to.equal(32 * 1024 * 1024);
      expect(there.driver.requests[0]).to.have.deep.nested.property("capability.volume", { kind: "block" });
      there.node.want(block({ deleting: true, generation: 2 }));
      expect((await there.node.volume(volumeName)).phase).to.equal("released");
      expect([there.left(), there.node.mounts()]).to.deep.equal([[], []]);
    });

    it("a device that is open, or mounted elsewhere, is not unstaged", async () => {
      there.node.want(block());
      await there.node.converge();
      const opened = openSync(disk, "r");
      const reader = spawn("sleep", ["60"], { stdio: [opened, "ignore", "ignore"] });
      await once(reader, "spawn");
      closeSync(opened);
      there.node.want(block({ deleting: true, generation: 2 }));
      const held = await there.node.volume(volumeName);
      expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["DeviceBusy", true]);
      reader.kill();
      await once(reader, "exit");
      execFileSync("mkfs.ext4", ["-q", disk]);
      mkdirSync(`${there.node.path}/elsewhere`);
      execFileSync("mount", [disk, `${there.node.path}/elsewhere`]);
      there.node.forgetFailures();
      expect((await there.node.volume(volumeName)).failure?.reason).to.equal("DeviceBusy");
      expect(there.driver.kinds).not.to.include("unstage");
      execFileSync("umount", [`${there.node.path}/elsewhere`]);
      there.node.forgetFailures();
      expect((await there.node.volume(volumeName)).phase).to.equal("released");
    });

    it("a driver that publishes something else than a device is not believed", async () => {
      there.driver.device = `${there.node.path}/src/here`;
      there.node.want(block());
      expect((await there.node.volume(volumeName)).failure?.reason).to.equal("DriverReplyFalse");
    });
  });
});

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, statSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import { deviceNumberOf } from "../../../src/host/linux/syscall/block-device.ts";
import { need } from "../../lib/asserts/requirements.ts";
import { QuickHeaderNode } from "../../lib/fakes/quick-header-node.ts";
import { FlakeyDisk } from "../../lib/kernel/disks/flakey-disk.ts";
import { describeLayeredSwap } from "../../lib/kernel/layers/layered-swap-suite.ts";
import { describeLayers } from "../../lib/kernel/layers/layers-suite.ts";
import type { LayersWorld } from "../../lib/kernel/layers/layers-world.ts";
import { layeredDevice, mappings, volumeGroup } from "../../lib/kernel/layers/volume-group.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const columns = ["--noheadings", "--options", "lv_name,lv_active,lv_tags"];

const deviceMapper: LayersWorld = {
  title: "LUKS and LVM beneath a local volume",
  need: (context) => need(context, "device-mapper", "loop-devices", "mkfs.ext4", "ext4"),
  node: () => new QuickHeaderNode(),
  group: volumeGroup,
  opened: mappings,
  volumes(_node, group) {
    const listed = execFileSync("lvm", ["lvs", ...columns, group], { encoding: "utf8" }).trim();
    return listed === "" ? [] : listed.split("\n").map((line) => line.trim());
  },
  grows: { fsType: "ext4", megabytes: 64 },
};
describeLayers(deviceMapper);
describeLayeredSwap(deviceMapper);

describe("a disk of device-mapper's flakey", () => {
  let node: RealNode;

  before(function () {
    need(this, "device-mapper", "loop-devices", "mkfs.ext4", "ext4");
  });
  beforeEach(() => {
    node = new RealNode();
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const want = (local: object, options: { deleting?: boolean; fsType?: "ext4" } = {}) => {
    const { deleting = false, ...more } = options;
    const mounts = [{ path: node.target("a") }];
    node.want(intent({ source: { local }, mounts, deleting, generation: deleting ? 2 : 1, ...more }));
    node.forgetFailures();
    return node.volume(asVolumeName("node.volume-1"));
  };

  it("a disk that cannot be read is a ReadError, and works again when it can be", async () => {
    const disk = layeredDevice(node, 48);
    execFileSync("mkfs.ext4", ["-q", disk]);
    const sectors = execFileSync("blockdev", ["--getsz", disk], { encoding: "utf8" }).trim();
    const table = (down: number) => `0 ${sectors} flakey ${disk} 0 ${down === 0 ? 3600 : 0} ${down}`;
    execFileSync("dmsetup", ["create", "nvo-flakey", "--table", table(3600)]);
    try {
      const local = { path: execFileSync("readlink", ["-f", "/dev/mapper/nvo-flakey"], { encoding: "utf8" }).trim() };
      const { failure } = await want(local);
      expect(failure?.reason, failure?.message).to.equal("ReadError");
      execFileSync("dmsetup", ["suspend", "--noflush", "--nolockfs", "nvo-flakey"]);
      execFileSync("dmsetup", ["load", "nvo-flakey", "--table", table(0)]);
      execFileSync("dmsetup", ["resume", "nvo-flakey"]);
      expect((await want(local)).failure?.message).to.equal(undefined);
      expect((await want(local, { deleting: true })).phase).to.equal("released");
    } finally {
      execFileSync("dmsetup", ["remove", "nvo-flakey"]);
    }
  });

  it("is neither formatted nor mounted while somebody may write to what it is made of", async () => {
    const disk = node.keep(new FlakeyDisk("nvo-made", 48));
    const [member] = readdirSync(`/sys/dev/block/${deviceNumberOf(statSync(disk.path))}/slaves`);
    const fd = openSync(`/dev/${member}`, "r+");
    const busy = [await want({ path: disk.path }, { fsType: "ext4" })];
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    busy.push(await want({ path: disk.path }, { fsType: "ext4" }));
    closeSync(fd);
    for (const { failure } of busy) {
      expect(failure?.reason, failure?.message).to.equal("DeviceBusy");
      expect(failure?.message).to.match(
        new RegExp(`^${member}, of which ${disk.path} is made, is open: .*\\(${process.pid}\\)`),
      );
    }
    expect((await want({ path: disk.path }, { fsType: "ext4" })).failure?.message).to.equal(undefined);
    expect((await want({ path: disk.path }, { fsType: "ext4", deleting: true })).phase).to.equal("released");
  });

  it("is not empty while a part of it cannot be read, and not formatted", async () => {
    const disk = node.keep(new FlakeyDisk("nvo-unread", 48));
    const local = { path: disk.path };
    disk.fail([1024, 8]);
    const { failure } = await want(local, { fsType: "ext4" });
    expect(failure?.reason, failure?.message).to.equal("ReadError");
    disk.fail();
    const written = execFileSync("sh", ["-c", `tr -d '\\0' <${disk.path} | wc -c`], { encoding: "utf8" }).trim();
    expect(written, "bytes that are none of zeros").to.equal("0");
    expect((await want(local, { fsType: "ext4" })).failure?.message).to.equal(undefined);
    expect((await want(local, { deleting: true })).phase).to.equal("released");
  });
});

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { fullVariable } from "../../hack/lib/lanes/lanes.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { VolumeError } from "../../src/errors.ts";
import { mapperName } from "../../src/host/ports/block-layers.ts";
import { need } from "../lib/asserts/requirements.ts";
import { FakeLayeredNode } from "../lib/fakes/fake-layered-node.ts";
import { describeLayeredSwap } from "../lib/kernel/layers/layered-swap-suite.ts";
import { describeLayers } from "../lib/kernel/layers/layers-suite.ts";
import type { LayersWorld } from "../lib/kernel/layers/layers-world.ts";
import { layeredDevice, passphrase } from "../lib/kernel/layers/volume-group.ts";

const needed = ["root", "loop-devices", "mkfs.ext4", "ext4", "mkfs.xfs", "xfs", "cryptsetup"] as const;
const fake = (node: unknown) => (node as FakeLayeredNode).layers;

const standIns: LayersWorld = {
  title: "layers beneath a local volume, with files that stand for them",
  need: (context) => need(context, ...needed),
  node: () => new FakeLayeredNode(),
  group(node, megabytes) {
    fake(node).addGroup("group", megabytes);
    return "group";
  },
  opened: (node) => fake(node).names,
  volumes: (node, group) => fake(node).volumesOf(group),
  grows: { fsType: "xfs", megabytes: 320 },
};
describeLayers(standIns);
describeLayeredSwap(standIns);

describe("layers beneath a local volume, cut off at any step", () => {
  const name = asVolumeName("node.volume-1");
  const secretRef = { namespace: "default", name: "disk" };
  const local = { lvm: { volumeGroup: "group", logicalVolume: "data" }, encryption: { secretRef } };
  const steps = ["makeLogicalVolume", "formatLUKS", "openLUKS", "closeLUKS", "activate"];

  before(function () {
    need(this, ...needed);
  });

  const all = steps.flatMap((each) => [`before ${each}`, `after ${each}`]);

  for (const step of process.env[fullVariable] ? all : ["after formatLUKS", "after closeLUKS"]) {
    slow(`goes on ${step}, and keeps its data`, async () => {
      await using node = new FakeLayeredNode();
      passphrase(node, "disk", "words");
      node.layers.addGroup("group", 64);
      let crashes = 0;
      node.layers.at = (now) => {
        if (now !== step || crashes > 0) return;
        crashes++;
        throw new Error(`the agent ends ${now}`);
      };
      const capacityBytes = `${48 << 20}`;
      const want = async (generation: number, deleting: boolean) => {
        const mounts = [{ path: node.target("a") }];
        node.want(intent({ source: { local }, fsType: "ext4", capacityBytes, mounts, generation, deleting }));
        await node.converge();
        await node.restart();
        return node.volume(name);
      };
      expect((await want(1, false)).failure?.message).to.equal(undefined);
      writeFileSync(`${node.target("a")}/token`, "data");
      expect((await want(2, true)).phase).to.equal("released");
      expect(node.layers.names).to.deep.equal([]);
      expect((await want(3, false)).failure?.message).to.equal(undefined);
      expect(readFileSync(`${node.target("a")}/token`, "utf8")).to.equal("data");
      expect(crashes, "it was cut off").to.equal(1);
    });
  }
});

describe("layers beneath a local volume that others have made, or write to", () => {
  const name = asVolumeName("node.volume-1");
  const secretRef = { namespace: "default", name: "disk" };
  const mebi = 1024 * 1024;
  let node: FakeLayeredNode;
  let generation = 0;

  before(function () {
    need(this, ...needed);
  });
  beforeEach(() => {
    node = new FakeLayeredNode();
    passphrase(node, "disk", "words");
    node.layers.addGroup("group", 800);
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const want = (local: object, megabytes?: number, deleting = false) => {
    const capacity = megabytes === undefined ? {} : { capacityBytes: `${megabytes * mebi}` };
    const mounts = [{ path: node.target("a") }];
    node.want(intent({ source: { local }, fsType: "xfs", ...capacity, mounts, deleting, generation: ++generation }));
    node.forgetFailures();
    return node.volume(name);
  };

  slow("one of the same name on another group, which any disk of the node may have, is not used", async () => {
    const local = { lvm: { volumeGroup: "group", logicalVolume: "data" } };
    expect((await want(local, 320)).failure?.message).to.equal(undefined);
    const reboot = async () => {
      node.unmountAll();
      node.layers.forget();
      await node.restart();
    };
    await reboot();
    node.layers.groupUUID = "uuid-of-another";
    const other = await want(local, 320);
    expect(other.failure?.reason).to.equal("SourceDiffers");
    expect(other.failure?.message)
      .to.include("uuid-of-another data")
      .and.to.include("the volume was set up with uuid-of-group");
    expect(node.mounts(), "nothing of it is mounted").to.deep.equal([]);
    expect(node.layers.names, "nor has it got a device").to.deep.equal([]);
    node.layers.groupUUID = "uuid-of-group";
    expect((await want(local, 320)).failure?.message).to.equal(undefined);
    expect(node.mountAt(node.target("a"))).to.not.equal(undefined);
    await reboot();
    rmSync(`${node.path}/layers/group data`);
    const gone = await want(local, 320);
    expect(gone.failure?.reason, "and what is gone is not made anew").to.equal("SourceDiffers");
    expect((await want(local, 320, true)).phase).to.equal("released");
    expect((await want(local, 320)).failure?.message, "until it is released").to.equal(undefined);
  });

  for (const refusal of ["DeviceNotEmpty", "DeviceBusy", "ToolMissing"] as const) {
    it(`what was written after ${refusal} gets no header at the next attempt (law L11)`, async () => {
      const disk = layeredDevice(node, 48);
      const local = { path: disk, encryption: { secretRef } };
      let refusals = 0;
      node.layers.at = (step) => {
        if (step !== "before formatLUKS" || refusals > 0) return;
        refusals++;
        throw new VolumeError(refusal, "final", "not this one");
      };
      expect((await want(local)).failure?.reason).to.equal(refusal);
      const record = (await node.journal()).records.get(name);
      expect([record?.formatting, record?.stage?.undo?.["fresh"]]).to.deep.equal([undefined, undefined]);
      execFileSync("dd", [`of=${disk}`, "bs=1", "seek=700", "count=1", "conv=notrunc", "status=none"], { input: "x" });
      expect((await want(local)).failure?.reason).to.equal("DeviceNotEmpty");
      expect(execFileSync("dd", [`if=${disk}`, "bs=1", "skip=700", "count=1", "status=none"]).toString()).to.equal("x");
    });
  }

  it("what was written after cryptsetup was killed at its deadline gets no header at the next attempt (decision 0013)", async () => {
    const disk = layeredDevice(node, 48);
    const local = { path: disk, encryption: { secretRef } };
    let kills = 0;
    node.layers.at = (step) => {
      if (step !== "before formatLUKS" || kills > 0) return;
      kills++;
      throw new VolumeError("TimedOut", "uncertain", "no answer within 30 s");
    };
    expect((await want(local)).failure?.reason).to.equal("TimedOut");
    execFileSync("dd", [`of=${disk}`, "bs=1", "seek=700", "count=1", "conv=notrunc", "status=none"], { input: "x" });
    expect((await want(local)).failure?.reason).to.equal("DeviceNotEmpty");
    expect(execFileSync("dd", [`if=${disk}`, "bs=1", "skip=700", "count=1", "status=none"]).toString()).to.equal("x");
  });

  const foreign = async (logicalVolume: string) => {
    const volume = { volumeGroup: "group", logicalVolume };
    await node.layers.makeLogicalVolume(volume, BigInt(320 * mebi), "somebody");
    const device = await node.layers.mapped(mapperName(volume));
    execFileSync("mkfs.xfs", ["-q", device?.path ?? ""]);
    return { volume, size: async () => (await node.layers.logicalVolume(volume))?.sizeBytes };
  };

  it("a logical volume that shows something else does not grow, and one that shows what is asked for does", async () => {
    const { volume, size } = await foreign("theirs");
    const { failure } = await want({ lvm: volume, encryption: { secretRef } }, 600);
    expect([failure?.reason, await size()]).to.deep.equal(["FilesystemMismatch", 320 * mebi]);
    expect((await want({ lvm: volume }, 400)).failure?.message).to.equal(undefined);
    expect(await size()).to.equal(400 * mebi);
    const blocks = execFileSync("df", ["--output=size", "-B1", node.target("a")], { encoding: "utf8" }).split("\n")[1];
    expect(Number(blocks)).to.be.above(330 * mebi);
  });

  it("a pool is no volume", async () => {
    const { volume } = await foreign("pool");
    node.layers.hidden.add("group pool");
    expect((await want({ lvm: volume })).failure?.reason).to.equal("SourceWrongType");
  });

  it("one of the name that was to be made, and is somebody else's, keeps its device", async () => {
    node.layers.addGroup("group", 1);
    const local = { lvm: { volumeGroup: "group", logicalVolume: "data" } };
    expect((await want(local, 48)).failure?.reason).to.equal("VolumeGroupFull");
    node.layers.addGroup("group", 800);
    await foreign("data");
    expect((await want(local, 48, true)).phase).to.equal("released");
    expect(node.layers.names).to.deep.equal(["group-data"]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { volumeKey } from "../../src/agent/desired/volume-key.ts";
import { asIntentUID, asVolumeName } from "../../src/agent/model/identities.ts";
import type { ChildRequest } from "../../src/host/linux/child/child-protocol.ts";
import type { ChildResult } from "../../src/host/linux/child/child-runner.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { ChangingDisks, startOf } from "../lib/kernel/disks/changing-disks.ts";
import { type LoopDevice, loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const other = asVolumeName("node.volume-2");
/** Bytes that no other test's device has: the disks of these tests are told from those by their size. */
const megabytes = 61 + (Date.now() % 300);
const bytes = megabytes * 1024 * 1024;
const marker = "what somebody has written";

describe("disks chosen by what they are, on the real kernel", function () {
  this.timeout(120_000);
  let node: RealNode;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
  });

  function disk(file: string, ...options: readonly string[]): LoopDevice {
    return node.keep(loopDevice(`${node.path}/disks`, file, megabytes, ...options));
  }

  /** Data without a signature, as no tool knows it. */
  function withData(device: LoopDevice): LoopDevice {
    writeFileSync(device.path, marker, { flag: "r+" });
    execFileSync("blockdev", ["--flushbufs", device.path]);
    return device;
  }

  const local = (asked: object = {}, spec: object = {}) =>
    intent({
      source: { local: { disk: { transport: "loop", minSize: bytes, maxSize: bytes, ...asked } } },
      fsType: "ext4",
      ...spec,
      mounts: [{ path: node.target((spec as { name?: string }).name ?? "a") }],
    });

  const failure = async (volume = name) => (await node.volume(volume)).failure;

  slow("of an empty one and one with data only the empty one is taken and formatted", async () => {
    const [data, empty] = [withData(disk("data")), disk("empty")];
    node.want(local());
    const both = await failure();
    expect(both?.reason).to.equal("DiskAmbiguous");
    expect(both?.message).to.include(data.path.slice(5)).and.include(empty.path.slice(5));
    node.forgetFailures();
    node.want(local({ empty: true }));
    await node.converge();
    expect(node.mountAt(node.target("a"))?.source).to.equal(empty.path);
    expect(startOf(data.path, marker.length)).to.equal(marker);
  });

  it("says why none is taken: mounted, with partitions, with data, another volume's", async () => {
    const mounted = disk("mounted");
    const full = withData(disk("full"));
    const split = disk("split", "--partscan");
    execFileSync("addpart", [split.path, "1", "2048", "2048"]);
    execFileSync("mkfs.ext4", ["-q", mounted.path]);
    mkdirSync(`${node.path}/elsewhere`);
    execFileSync("mount", [mounted.path, `${node.path}/elsewhere`]);
    node.want(local({ empty: true }));
    const found = await failure();
    execFileSync("umount", [`${node.path}/elsewhere`]);
    expect(found?.reason).to.equal("DiskNotFound");
    expect(found?.message).to.match(new RegExp(`${mounted.path.slice(5)} [^)]*open elsewhere`));
    expect(found?.message).to.match(new RegExp(`${full.path.slice(5)} [^)]*not empty: data`));
    expect(found?.message).to.match(new RegExp(`${split.path.slice(5)} [^)]*it has partitions`));
  });

  slow("the disk on record is found again on another number, and by the file system after a reboot", async () => {
    const first = disk("first");
    node.want(local({ empty: true }));
    await node.converge();
    const uuid = execFileSync("blkid", ["-p", "-s", "UUID", "-o", "value", first.path], { encoding: "utf8" }).trim();
    const journal = await node.journal();
    const record = journal.records.get(name);
    expect(record?.disk?.uuid).to.equal(uuid);
    for (const path of [node.target("a"), record?.stage?.path ?? ""]) execFileSync("umount", [path]);
    if (record?.disk === undefined) throw new Error("nothing on record");
    const { stage: _unmounted, ...rest } = record;
    await journal.put({ ...rest, disk: { ...record.disk, identity: "disk 1 of another boot" }, targets: [] });
    disk("second"); // it is empty, as the selector asks, and the volume's own is not any more
    await node.converge();
    expect(node.mountAt(node.target("a"))?.source).to.equal(first.path);
    expect(
      execFileSync("blkid", ["-p", "-s", "UUID", "-o", "value", first.path], { encoding: "utf8" }).trim(),
    ).to.equal(uuid);
  });

  it("a loop device on another device is no disk: it is a second name of one that somebody may have", async () => {
    const device = disk("device");
    const alias = execFileSync("losetup", ["--find", "--show", device.path], { encoding: "utf8" }).trim();
    try {
      node.want(local({ empty: true }));
      const found = await failure();
      expect(found?.reason).to.equal("DiskNotFound");
      expect(found?.message).to.match(new RegExp(`${alias.slice(5)} [^)]*it is made of another device`));
    } finally {
      execFileSync("losetup", ["--detach", alias]);
    }
  });

  it("a disk that is gone is not exchanged for another that matches", async () => {
    disk("another");
    node.want(local({ empty: true }));
    await node.plan();
    const journal = await node.journal();
    const disk1 = { lastingName: "eui.1", sizeBytes: bytes };
    const ids = { name, key: volumeKey(name), type: "local", uid: asIntentUID("uid-1"), generation: 1 } as const;
    await journal.put({ ...ids, targets: [], disk: disk1 });
    const found = await failure();
    expect(found?.reason).to.equal("DiskNotFound");
    expect(found?.message).to.include("eui.1");
  });

  slow(
    "one that comes while the volume waits is not taken because it is empty: another driver may have attached it",
    async () => {
      node.want(local({ empty: true }));
      expect((await failure())?.reason).to.equal("DiskNotFound");
      const late = disk("late");
      await node.restart();
      const found = await failure();
      expect(found?.reason).to.equal("DiskNotFound");
      expect(found?.message).to.match(new RegExp(`${late.path.slice(5)} [^)]*was not there when`));
      node.want(local({ empty: true }, { deleting: true, generation: 2 }));
      expect((await node.volume(name)).phase).to.equal("released");
      node.want();
      await node.converge();
      expect((await node.journal()).records.get(name), "the set is gone").to.equal(undefined);
      node.forgetFailures();
      node.want(local({ empty: true }));
      expect((await failure())?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(late.path);
    },
  );

  it("a raw one without a name of its own is refused: after a reboot another could be taken for it", async () => {
    disk("raw");
    const { fsType: _none, ...spec } = local({ empty: true }).spec;
    node.want({ ...local(), spec: { ...spec, volumeMode: "Block" } });
    const found = await failure();
    expect(found?.reason).to.equal("DiskNotFound");
    expect(found?.message).to.include("local.path");
    expect(node.mounts()).to.deep.equal([]);
  });

  slow("two volumes that ask for the same get two disks, or one waits", async () => {
    const only = disk("only");
    node.want(local({ empty: true }, { name }), local({ empty: true }, { name: other }));
    const volumes = [await node.volume(name), await node.volume(other)];
    const failed = volumes.filter((volume) => volume.failure !== undefined);
    expect(failed.map((volume) => volume.failure?.reason)).to.have.length(1);
    expect(node.mounts().filter((mount) => mount.source === only.path && mount.point.includes("/mnt/"))).to.have.length(
      1,
    );
  });

  describe("swapped between the check and the use", () => {
    const run = ChildRunner.prototype.run;
    afterEach(() => {
      ChildRunner.prototype.run = run;
    });

    /** Does something right before the first child of this kind begins. @returns how many have begun */
    function swapBefore(kind: ChildRequest["kind"], swap: () => void): () => number {
      let swapped = 0;
      ChildRunner.prototype.run = async function (this: ChildRunner, request, ...rest): Promise<ChildResult> {
        if (request.kind === kind && swapped++ === 0) swap();
        return run.call(this, request, ...rest);
      };
      return () => swapped;
    }

    for (const kind of ["format", "probe"] as const) {
      slow(
        `right before ${kind}: the one with data stays as it is, and the empty one, which is another disk by now, is not taken`,
        async () => {
          const pair = node.keep(new ChangingDisks(`${node.path}/disks`, bytes, marker));
          const swapped = swapBefore(kind, () => pair.swap());
          node.want(local({ empty: true }));
          for (let attempt = 0; attempt < 3 && node.mountAt(node.target("a")) === undefined; attempt++) {
            await node.converge();
            node.forgetFailures();
          }
          expect(swapped()).to.be.at.least(1);
          expect(pair.data).to.equal(marker);
          expect((await failure())?.message).to.include("was not there when the volume was first looked for");
          expect(node.mounts()).to.deep.equal([]);
        },
      );
    }

    it("written to right before format: that stays, also at the next attempt (law L11)", async () => {
      const device = disk("only");
      const begun = swapBefore("format", () => withData(device));
      node.want(local());
      for (const attempt of [1, 2]) {
        expect((await failure())?.reason, `attempt ${attempt}`).to.equal("DeviceNotEmpty");
        node.forgetFailures();
      }
      expect(begun(), "mkfs is not begun a second time").to.equal(1);
      expect(startOf(device.path, marker.length)).to.equal(marker);
    });
  });

  describe("destroyAllDataOnDevices", () => {
    /** What the message says has to be named. */
    const named = (message = "") => /destroyAllDataOnDevices: (\S+@[0-9a-f]{16})$/.exec(message)?.[1] ?? "";

    slow(
      "a disk with data is formatted when it is named with what is on it, once, and never for another's name",
      async () => {
        const device = withData(disk("full"));
        node.want(local());
        const refused = await failure();
        expect(refused?.reason).to.equal("DeviceNotEmpty");
        const wanted = named(refused?.message);
        const wrong = wanted.replace(/@.*/, "@0000000000000000");
        node.forgetFailures();
        node.want(local({}, { destroyAllDataOnDevices: [wrong], generation: 2 }));
        expect((await failure())?.reason).to.equal("DeviceNotEmpty");
        expect(startOf(device.path, marker.length)).to.equal(marker);
        node.forgetFailures();
        node.want(local({}, { destroyAllDataOnDevices: [wanted], generation: 3 }));
        await node.converge();
        writeFileSync(`${node.target("a")}/token`, "new data");
        const journal = await node.journal();
        const record = journal.records.get(name);
        for (const path of [node.target("a"), record?.stage?.path ?? ""]) execFileSync("umount", [path]);
        await node.converge();
        expect(execFileSync("cat", [`${node.target("a")}/token`], { encoding: "utf8" })).to.equal("new data");
      },
    );

    it("what has changed since it was looked at stays", async () => {
      const device = withData(disk("full"));
      node.want(local());
      const wanted = named((await failure())?.message);
      writeFileSync(device.path, "something else that was written", { flag: "r+" });
      execFileSync("blockdev", ["--flushbufs", device.path]);
      node.forgetFailures();
      node.want(local({}, { destroyAllDataOnDevices: [wanted], generation: 2 }));
      expect((await failure())?.reason).to.equal("DeviceNotEmpty");
      expect(startOf(device.path, marker.length)).to.equal("something else that was w");
    });

    slow("another file system than fsType is replaced, also by path", async () => {
      const device = disk("xfs");
      execFileSync("mkfs.ext4", ["-q", device.path]);
      const spec = { source: { local: { path: device.path } }, fsType: "ext3" } as const;
      const mounts = [{ path: node.target("a") }];
      node.want(intent({ ...spec, mounts }));
      const refused = await failure();
      expect(refused?.reason).to.equal("FilesystemMismatch");
      node.forgetFailures();
      node.want(intent({ ...spec, mounts, destroyAllDataOnDevices: [named(refused?.message)], generation: 2 }));
      await node.converge();
      expect(
        execFileSync("blkid", ["-p", "-s", "TYPE", "-o", "value", device.path], { encoding: "utf8" }).trim(),
      ).to.equal("ext3");
    });
  });
});

import { expect } from "chai";
import type { ScsiDisk, ScsiTree } from "../../../../src/host/ports/scsi.ts";
import { detachLun } from "../../../../src/plugins/scsi/detach-lun.ts";
import { deviceOf } from "../../../../src/plugins/scsi/device-of.ts";
import { growLun } from "../../../../src/plugins/scsi/grow.ts";
import { context, FakeScsi, failure, map, path, tree, wwid } from "./scsi-world.ts";

describe("the device of a LUN", () => {
  const paths = [path(2, "sdb", { state: "offline" }), path(3, "sdc")];
  const one = (some: readonly ScsiDisk[], scsi: FakeScsi, now = some) => {
    const { context: made, said } = context(scsi);
    return { device: deviceOf(some, async () => now, made), said };
  };
  const way = { name: "dm-3", deviceNumber: "254:3" };
  const byMap = { ...way, lasting: wwid, ways: [way] };
  const mapped = [path(2, "sdb", { map }), path(3, "sdc", { map })];

  it("is the map of its paths, and nobody is asked", async () => {
    const scsi = new FakeScsi(tree({ multipathd: true }));
    expect(await one([path(2, "sdb"), path(3, "sdc", { map })], scsi).device).to.deep.equal(byMap);
    expect(scsi.done).to.deep.equal([]);
  });

  it("is not a map that something else is in, whatever it calls itself", async () => {
    const shared = [path(2, "sdb", { map }), path(3, "sdc", { map: { ...map, paths: ["sdb", "sdc", "sdx"] } })];
    const error = await failure(one(shared, new FakeScsi()).device);
    expect(error).to.include({ reason: "DeviceBusy", errorClass: "transient" });
    expect(error.message).to.contain("multipathd del path sdx");
  });

  it("is the map that multipathd makes when it is told of the paths, also of one that is all there is", async () => {
    for (const some of [paths, paths.slice(1)]) {
      const scsi = new FakeScsi(tree({ multipathd: true }));
      expect(await one(some, scsi, mapped).device).to.deep.equal(byMap);
      expect(scsi.done).to.deep.equal(some.map(({ name }) => `offer ${name}`));
    }
  });

  it("is waited for while udev has not told multipathd of each path: it would say that it wants none", async () => {
    const scsi = new FakeScsi(tree({ multipathd: true }));
    const error = await failure(one([path(2, "sdb"), path(3, "sdc", { told: false })], scsi, mapped).device);
    expect(error).to.include({ reason: "DiskNotFound", errorClass: "transient" });
    expect(error.message).to.contain("has not reported sdc to it yet");
    expect(scsi.done).to.deep.equal([]);
  });

  it("is a path that works where nobody makes maps, and people are told", async () => {
    for (const multipathd of [false, true]) {
      const { device, said } = one(paths, new FakeScsi(tree({ multipathd })));
      expect(await device).to.deep.include({ name: "sdc", ways: paths.map(wayOf) });
      expect(said.join()).to.contain("is used, sdc");
    }
  });

  it("is its only path, of which nothing is told", async () => {
    const { device, said } = one([path(2, "sdb", { told: false })], new FakeScsi());
    expect([(await device).name, said]).to.deep.equal(["sdb", []]);
  });
});

describe("a LUN that is taken off the node", () => {
  const all = ({ disks }: ScsiTree) => disks;

  it("goes map first, then path by path", async () => {
    const scsi = new FakeScsi(tree({ disks: [path(2, "sdb", { map }), path(3, "sdc", { map })] }), tree());
    await detachLun(all, context(scsi).context);
    expect(scsi.done).to.deep.equal(["flush mpatha", "remove sdb", "remove sdc"]);
  });

  it("stays with the map that somebody else's disk is in", async () => {
    const shared = { ...map, paths: ["sdb", "sdx"] };
    const scsi = new FakeScsi(tree({ disks: [path(2, "sdb", { map: shared })] }));
    expect((await failure(detachLun(all, context(scsi).context))).reason).to.equal("DeviceBusy");
    expect(scsi.done).to.deep.equal([]);
  });

  it("that is gone is harmless, and one that comes back is told of", async () => {
    await detachLun(all, context(new FakeScsi(tree())).context);
    const error = await failure(detachLun(all, context(new FakeScsi(tree({ disks: [path(2, "sdb")] }))).context));
    expect(error).to.include({ reason: "DeviceBusy", errorClass: "transient" });
  });
});

describe("a LUN that grows", () => {
  const pathsIn = ({ disks }: ScsiTree) => disks;
  const grown: string[] = [];
  const on = (device: string | undefined, fsType = "ext4", source = "/dev/sdb") => ({
    stagingTarget: { prefix: "/s", path: "/s/k" },
    tableNow: async () => ({ at: () => device && { device, fsType, source, point: "/s/k" } }),
    devices: { grow: async (...what: string[]) => grown.push(what.join(" ")) },
  });
  const growth = { name: "LUN 5", to: "2048", pathsIn };

  beforeEach(() => grown.splice(0));

  it("is asked on each path, then its map and its file system follow", async () => {
    const before = [path(2, "sdb", { map }), path(3, "sdc", { map })];
    const after = before.map((disk) => ({ ...disk, sizeBytes: 2048 }));
    const scsi = new FakeScsi(tree({ disks: before }), tree({ disks: after }));
    await growLun(growth, context(scsi, on("254:3")).context);
    expect(scsi.done).to.deep.equal(["rescan sdb", "rescan sdc", "grow map mpatha"]);
    expect(grown).to.deep.equal(["/dev/dm-3 ext4 /s/k"]);
  });

  it("is as small as its smallest path", async () => {
    const paths = [path(2, "sdb", { sizeBytes: 2048 }), path(3, "sdc")];
    const error = await failure(growLun(growth, context(new FakeScsi(tree({ disks: paths })), on("8:2")).context));
    expect(error.reason).to.equal("VolumeResizeFailed");
    expect(error.message).to.contain("has 1024 bytes, and capacity is 2048");
    expect(grown).to.deep.equal([]);
  });

  for (const [source, node] of [
    ["/dev/mapper/mpatha", "dm-3"],
    ["/dev/dm-3", "dm-3"],
  ] as const) {
    it(`is told from others by its name under a btrfs: ${source}`, async () => {
      const disks = [path(2, "sdb", { map: { ...map, sizeBytes: 2048, paths: ["sdb"] }, sizeBytes: 2048 })];
      await growLun(growth, context(new FakeScsi(tree({ disks })), on("0:51", "btrfs", source)).context);
      expect(grown).to.deep.equal([`/dev/${node} btrfs /s/k`]);
    });
  }

  it("is nobody else's that is mounted there", async () => {
    const paths = [path(2, "sdb", { sizeBytes: 2048 })];
    const error = await failure(growLun(growth, context(new FakeScsi(tree({ disks: paths })), on("8:99")).context));
    expect(error.message).to.contain("nothing is grown");
  });
});

function wayOf({ name, deviceNumber }: ScsiDisk) {
  return { name, deviceNumber };
}

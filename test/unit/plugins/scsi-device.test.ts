import { expect } from "chai";
import type { ScsiTree } from "../../../src/host/scsi.ts";
import { deviceOf } from "../../../src/plugins/scsi/device-of.ts";
import { growLun } from "../../../src/plugins/scsi/grow.ts";
import { takeOff } from "../../../src/plugins/scsi/take-off.ts";
import { context, FakeScsi, failure, map, path, tree } from "./scsi-world.ts";

describe("the device of a LUN", () => {
  const paths = [path(2, "sdb", { state: "offline" }), path(3, "sdc")];
  const wants = (code: number) => ({
    programs: { identify: async () => "multipath", run: async () => ({ code, stdout: "", stderr: "" }) },
  });

  it("is the map of its paths, wherever there is one", async () => {
    const mapped = [path(2, "sdb"), path(3, "sdc", { map })];
    expect(await deviceOf(mapped, context(new FakeScsi()).context)).to.deep.equal({
      name: "dm-3",
      deviceNumber: "254:3",
    });
  });

  it("is waited for while multipathd wants the paths and has made no map yet", async () => {
    const scsi = new FakeScsi(tree({ multipathd: true }));
    const error = await failure(deviceOf(paths, context(scsi, wants(0)).context));
    expect(error).to.include({ reason: "DiskNotFound", errorClass: "transient" });
    expect(error.message).to.contain("sdb, sdc");
  });

  it("is a path that works where nobody makes maps, and people are told", async () => {
    for (const [multipathd, code] of [
      [false, 0],
      [true, 1],
    ] as const) {
      const { context: made, said } = context(new FakeScsi(tree({ multipathd })), wants(code));
      expect(await deviceOf(paths, made)).to.include({ name: "sdc" });
      expect(said.join()).to.contain("one is used, sdc");
    }
  });

  it("is its only path", async () => {
    expect(
      await deviceOf([path(2, "sdb")], context(new FakeScsi(tree({ multipathd: true })), wants(0)).context),
    ).to.include({
      name: "sdb",
    });
  });
});

describe("a LUN that is taken off the node", () => {
  const all = ({ disks }: ScsiTree) => disks;

  it("goes map first, then path by path", async () => {
    const scsi = new FakeScsi(tree({ disks: [path(2, "sdb", { map }), path(3, "sdc", { map })] }), tree());
    await takeOff(all, context(scsi).context);
    expect(scsi.done).to.deep.equal(["flush mpatha", "remove sdb", "remove sdc"]);
  });

  it("that is gone is harmless, and one that comes back is told of", async () => {
    await takeOff(all, context(new FakeScsi(tree())).context);
    const error = await failure(takeOff(all, context(new FakeScsi(tree({ disks: [path(2, "sdb")] }))).context));
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
    expect(error.message).to.contain("has 1024 bytes, and capacity asks for 2048");
    expect(grown).to.deep.equal([]);
  });

  for (const [source, node] of [
    ["/dev/mapper/mpatha", "dm-3"],
    ["/dev/dm-3", "dm-3"],
  ] as const) {
    it(`is told from others by its name under a btrfs: ${source}`, async () => {
      const disks = [path(2, "sdb", { map: { ...map, sizeBytes: 2048 }, sizeBytes: 2048 })];
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

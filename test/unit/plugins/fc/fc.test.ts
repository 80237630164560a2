import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import type { ScsiTree } from "../../../../src/host/ports/scsi.ts";
import { attach, toScan } from "../../../../src/plugins/fc/attach.ts";
import { type FCLun, lunOf, pathsOf, tearDownDataOf } from "../../../../src/plugins/fc/lun.ts";
import { context, FakeScsi, failure, first, path, second, tree, wwid } from "../scsi/scsi-world.ts";

const byPort: FCLun = { source: { targetWWNs: [first, second], lun: 5 } };
const byName: FCLun = { source: { wwids: ["3600508b400105e21"] } };

describe("a LUN of Fibre Channel", () => {
  it("is looked for at the ports that are named, for that LUN alone, and where it is already not at all", () => {
    expect(toScan(byPort, tree())).to.deep.equal([
      { host: 2, channel: 0, target: 0, lun: 5 },
      { host: 3, channel: 0, target: 0, lun: 5 },
    ]);
    expect(toScan(byPort, tree({ disks: [path(2, "sdb")] }))).to.deep.equal([
      { host: 3, channel: 0, target: 0, lun: 5 },
    ]);
    expect(toScan(byPort, tree({ disks: [path(2, "sdb"), path(3, "sdc")] }))).to.deep.equal([]);
  });

  it("is not looked for at a port that is away: the scan would wait for it", () => {
    const ports = tree().ports.map((port) => (port.host === 2 ? { ...port, state: "Blocked" } : port));
    expect(toScan(byPort, tree({ ports }))).to.deep.equal([{ host: 3, channel: 0, target: 0, lun: 5 }]);
  });

  it("that is only named by itself is looked for at all ports of Fibre Channel, and by other adapters only without any", () => {
    expect(toScan(byName, tree())).to.deep.equal([
      { host: 2, channel: 0, target: 0 },
      { host: 3, channel: 0, target: 0 },
    ]);
    expect(toScan(byName, tree({ ports: [] }))).to.deep.equal([{ host: 2 }, { host: 3 }]); // ahci is none
    expect(toScan(byName, tree({ disks: [path(2, "sdb")] }))).to.deep.equal([]);
  });

  it("is found at its ports, by its name, and once it is known on every path", () => {
    const other = path(2, "sdd", { address: { host: 2, channel: 0, target: 0, lun: 6 }, lasting: "naa.6", names: [] });
    const shown = tree({ disks: [path(2, "sdb"), other, path(7, "sde")] });
    const names = (lun: FCLun) => pathsOf(lun, shown).map(({ name }) => name);
    expect(names(byPort)).to.deep.equal(["sdb"]);
    expect(names(byName)).to.deep.equal(["sdb", "sde"]);
    expect(names({ ...byPort, lasting: wwid })).to.deep.equal(["sdb", "sde"]);
  });

  it("is never a disk of an iSCSI target, which calls itself what it likes", () => {
    const session = {
      kind: "iscsi",
      host: 7,
      channel: 0,
      target: 0,
      session: "session1",
      iqn: "a",
      state: "",
    } as const;
    const ports = [...tree().ports, session];
    const shown = tree({ ports, disks: [path(2, "sdb"), path(7, "sde")] });
    for (const lun of [byName, { ...byPort, lasting: wwid }]) {
      expect(pathsOf(lun, shown).map(({ name }) => name)).to.deep.equal(["sdb"]);
    }
  });

  it("is used by the ways that are named, and by all others of the same disk that are there", async () => {
    const disks = [path(7, "sda"), path(2, "sdb"), path(3, "sdc")];
    const paths = await attach(byPort, context(new FakeScsi(tree({ disks }))).context);
    expect(paths.map(({ name }) => name)).to.deep.equal(["sdb", "sdc", "sda"]);
  });

  it("is on record with what it takes to find it without its spec", () => {
    for (const lun of [byPort, { ...byPort, lasting: wwid }]) {
      const { source, lasting } = lunOf(tearDownDataOf(lun));
      expect({ ...source, lasting }).to.deep.equal({
        ...lun.source,
        wwids: [],
        lasting: lun === byPort ? undefined : wwid,
      });
    }
    expect(() => lunOf({})).to.throw("damaged");
  });

  it("that appears by the scan is used", async () => {
    const scsi = new FakeScsi(tree(), tree({ disks: [path(2, "sdb"), path(3, "sdc")] }));
    const paths = await attach(byPort, context(scsi).context);
    expect(paths.map(({ name }) => name)).to.deep.equal(["sdb", "sdc"]);
    expect(scsi.done).to.deep.equal(["scan 2 0 0 5", "scan 3 0 0 5"]);
  });

  it("is used by one path while another port cannot be scanned, which is told; without any path it is the error", async () => {
    const hangs = new VolumeError("TimedOut", "uncertain", "host2 does not answer");
    const failing = (...trees: ScsiTree[]) => {
      const scsi = new FakeScsi(...trees);
      const scan = scsi.scan.bind(scsi);
      scsi.scan = (where) => (where.host === 2 ? Promise.reject(hangs) : scan(where));
      return scsi;
    };
    const { context: made, said } = context(failing(tree(), tree({ disks: [path(3, "sdc")] })));
    expect((await attach(byPort, made)).map(({ name }) => name)).to.deep.equal(["sdc"]);
    expect(said.join()).to.contain("host2 does not answer");
    expect(await failure(attach(byPort, context(failing(tree())).context))).to.equal(hangs);
    const held = new FakeScsi(tree());
    const abandoned = new VolumeError("OperationAbandoned", "uncertain", "held");
    held.scan = async ({ host }) => {
      held.done.push(`scan ${host}`);
      throw abandoned;
    };
    expect(await failure(attach(byPort, context(held).context))).to.equal(abandoned);
    expect(held.done).to.deep.equal(["scan 2"]);
  });

  it("that is not there is waited for, with what the node is connected to, and which LUNs are there", async () => {
    const elsewhere = { source: { targetWWNs: ["0000000000000001"], lun: 5 } };
    const zone = await failure(attach(elsewhere, context(new FakeScsi(tree())).context));
    expect(zone).to.include({ reason: "DiskNotFound", errorClass: "transient" });
    expect(zone.message).to.contain(`is connected to ${first}, ${second}. Correct targetWWNs`);
    const six = path(2, "sdd", { address: { host: 2, channel: 0, target: 0, lun: 6 } });
    const unmapped = await failure(attach(byPort, context(new FakeScsi(tree({ disks: [six] }))).context));
    expect(unmapped.message).to.contain("LUNs there are 6").and.to.contain("Map the LUN to this node");
    const none = await failure(attach(elsewhere, context(new FakeScsi(tree({ ports: [] }))).context));
    expect(none.message).to.contain("has no connection to any target");
  });

  it("is one disk, and the one that the volume has had", async () => {
    const two = [path(2, "sdb"), path(3, "sdc", { wwid: "naa.7", lasting: "naa.7" })];
    const several = await failure(attach(byPort, context(new FakeScsi(tree({ disks: two }))).context));
    expect(several).to.include({ reason: "DiskAmbiguous", errorClass: "final" });
    const had = { ...byPort, lasting: "naa.9" };
    const another = await failure(attach(had, context(new FakeScsi(tree({ disks: [path(2, "sdb")] }))).context));
    expect(another).to.include({ reason: "SourceDiffers", errorClass: "final" });
    const nameless = { ...byPort, lasting: "disk 7 of boot a" };
    expect(await attach(nameless, context(new FakeScsi(tree({ disks: [path(2, "sdb")] }))).context)).to.have.length(1);
  });
});

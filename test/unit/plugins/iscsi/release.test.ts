import { expect } from "chai";
import type { TearDownContext } from "../../../../src/plugins/api/teardown.ts";
import type { TearDownData } from "../../../../src/plugins/api/teardown-data.ts";
import { iscsi as plugin } from "../../../../src/plugins/iscsi/iscsi.ts";
import { detach } from "../../../../src/plugins/iscsi/release.ts";
import { FakeISCSINode } from "./fake-iscsi-node.ts";

const iqn = "iqn.2024-01.example:a";
const undo = { iqn, lun: "1", interface: "nodevolume-a" };
const ours = { interface: "nodevolume-a" };

describe("what an iSCSI volume has done", () => {
  let node: FakeISCSINode;
  let grown: string[];
  let mounted: string;
  let context: TearDownContext;
  let others: TearDownData[];

  beforeEach(() => {
    node = new FakeISCSINode();
    grown = [];
    mounted = "8:0";
    const { iscsi, scsi } = node;
    const stagingTarget = { prefix: "/s", path: "/s/v" };
    const devices = { grow: async (...args: string[]) => void grown.push(args.join(" ")) };
    const tableNow = async () => ({ at: () => ({ point: "/s/v", device: mounted, fsType: "ext4" }) });
    others = [];
    const made = { iscsi, scsi, devices, hostRoot: "/", stagingTarget, tableNow, others: () => others };
    context = made as unknown as TearDownContext;
  });

  function expand(): Promise<void> {
    const source = { iscsi: { targetPortal: "10.0.0.1", iqn, lun: 1 } };
    const spec = { key: "k", nodeName: "n", source, volumeMode: "Filesystem", mountOptions: [] } as const;
    return plugin.expand(spec, { from: "1000", to: "2000" }, undo, { ...context, content: undefined });
  }

  it("is undone: the disk goes, and the session when no other disk is left of it", async () => {
    node.disk(node.session(ours), 1);
    await detach(undo, context);
    expect(node.log).to.deep.equal(["remove sda", "logout 1"]);
    await detach(undo, context);
    expect(node.log).to.have.length(2);
  });

  it("keeps a session that another LUN comes by", async () => {
    const session = node.session(ours);
    node.disk(session, 1);
    node.disk(session, 2);
    await detach(undo, context);
    expect(node.log).to.deep.equal(["remove sda"]);
  });

  it("leaves alone what others have logged in to, also the same LUN of the same target", async () => {
    node.disk(node.session({ interface: "default" }), 1);
    node.disk(node.session({ iqn: "iqn.2024-01.example:b", ...ours }), 1);
    await detach(undo, context);
    expect(node.log).to.deep.equal([]);
  });

  it("is undone on all paths, the map over them first", async () => {
    const paths = [node.session(ours), node.session(ours)].map((session) => node.disk(session, 1));
    node.map("dm-0", ...paths);
    await detach(undo, context);
    expect(node.log).to.deep.equal(["flush mpatha", "remove sda", "remove sdb", "logout 1", "logout 2"]);
  });

  it("does not wait for a target that is gone: with the session the disk goes", async () => {
    node.disk(node.session({ ...ours, state: "FAILED" }), 1);
    await detach(undo, context);
    expect(node.log).to.deep.equal(["ask of sda", "logout 1"]);
  });

  it("keeps what somebody has, also when its target is gone", async () => {
    const disk = node.disk(node.session({ ...ours, state: "FAILED" }), 1);
    node.used = [disk.name];
    const error: unknown = await detach(undo, context).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("reason", "DeviceBusy");
    expect(node.log).to.deep.equal(["ask of sda"]);
  });

  it("keeps what another volume has on record, until that goes, too", async () => {
    node.disk(node.session(ours), 1);
    for (const other of [undo, { ...undo, portals: "10.0.0.9:3260 10.0.0.1:3260" }]) {
      others = [other];
      await detach(undo, context);
      expect(node.log).to.deep.equal([]);
    }
    others = [
      { ...undo, lun: "2" },
      { ...undo, interface: "nodevolume-b" },
      { ...undo, portals: "10.0.0.9:3260" },
    ];
    await detach(undo, context);
    expect(node.log).to.deep.equal(["remove sda", "logout 1"]);
  });

  it("leaves sessions of ours at portals of other volumes alone", async () => {
    node.disk(node.session(ours), 1);
    // Where a volume is about to look for its disk.
    node.session({ ...ours, portal: { address: "10.0.0.2", port: 3260 } });
    await detach({ ...undo, portals: "10.0.0.9:3260" }, context);
    expect(node.log).to.deep.equal([]);
  });

  it("never takes a multipath map away that others have a path in", async () => {
    const own = node.disk(node.session(ours), 1);
    node.map("dm-0", own, node.disk(node.session({ iqn: "iqn.2024-01.example:victim" }), 1));
    const error: unknown = await detach(undo, context).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("reason", "DeviceBusy");
    expect(node.log).to.deep.equal([]);
  });

  it("takes a session back that no disk ever came by", async () => {
    node.session(ours);
    await detach(undo, context);
    expect(node.log).to.deep.equal(["logout 1"]);
  });

  it("grows: the size of each path is asked for anew, then map and file system follow", async () => {
    const disk = node.disk(node.session(ours), 1, { deviceNumber: "8:0", sizeBytes: 2000 });
    await expand();
    expect([node.log, grown]).to.deep.equal([["rescan sda"], ["/dev/sda ext4 /s/v"]]);
    node.map("dm-0", disk);
    mounted = "254:0";
    node.disks = node.disks.map((one) => ({ ...one, ...(one.map && { map: { ...one.map, sizeBytes: 1000 } }) }));
    await expand();
    expect(node.log.slice(1)).to.deep.equal(["rescan sda", "grow mpatha"]);
    expect(grown[1]).to.equal("/dev/dm-0 ext4 /s/v");
  });

  it("never says that it has grown what is not mounted", async () => {
    node.disk(node.session(ours), 1, { deviceNumber: "8:16", sizeBytes: 2000 });
    const error: unknown = await expand().catch((thrown: unknown) => thrown);
    expect(error).to.have.property("reason", "VolumeResizeFailed");
    expect(grown).to.deep.equal([]);
  });

  it("does not grow beyond what the target has", async () => {
    node.disk(node.session(ours), 1, { sizeBytes: 1000 });
    const error: unknown = await expand().catch((thrown: unknown) => thrown);
    expect(error).to.have.property("reason", "VolumeResizeFailed");
    expect(grown).to.deep.equal([]);
  });
});

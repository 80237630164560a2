import { expect } from "chai";
import { diskName, overlap } from "../../../../src/api/disk-name.ts";
import type { Grant, VolumeSource } from "../../../../src/api/types.gen.ts";
import { decideDisk } from "../../../../src/controller/grants/decide-disk.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";

describe("what a disk is called on every node", () => {
  for (const [lastingName, name] of [
    ["naa.6001405ABC0000000000000000000001", "36001405abc0000000000000000000001"],
    ["mpath-36001405abc0000000000000000000001", "36001405abc0000000000000000000001"],
    ["part2-mpath-36001405abc0000000000000000000001", "36001405abc0000000000000000000001, part2"],
    ["naa.6001405abc0000000000000000000001, start 2048", "36001405abc0000000000000000000001, start 2048"],
    ["eui.0025385b71b0abcd", "20025385b71b0abcd"],
    ["uuid.0f8a-1", "uuid.0f8a-1"],
    ["mpath-uuid.0f8a-1", "uuid.0f8a-1"],
    ["mpath-eui.0025385b71b0abcd", "20025385b71b0abcd"],
    ["part1-mpath-nvme.1d0f-41-42-00000001", "nvme.1d0f-41-42-00000001, part1"],
    ["naa.5000000000000001", undefined],
    ["mpath-35000000000000001", undefined],
    ["naa.5000c500abcd0001", "35000c500abcd0001"],
    ["naa.60000000000000000e00000000010001", undefined],
    ["mpath-360000000000000000e00000000010001", undefined],
    ["t10.ATA  DISK 7", undefined],
    ["0123456789", undefined],
    ["LVM-Ab1cDe2f", undefined],
  ] as const) {
    it(`${lastingName}: ${name}`, () => expect(diskName(lastingName)).to.equal(name));
  }

  it("is of the same disk where either is all of it, or nothing tells the two parts apart", () => {
    expect(overlap("36001", "36001, start 2048")).to.equal(true);
    expect(overlap("36001, start 2048", "36001, start 2048")).to.equal(true);
    expect(overlap("36001, start 2048", "36001, part1"), "one by number").to.equal(true);
    expect(overlap("36001, start 2048", "36001, start 4096")).to.equal(false);
    expect(overlap("36001, part1", "36001, part2")).to.equal(false);
    expect(overlap("36001", "36002")).to.equal(false);
  });
});

describe("who gets a disk that several nodes reach", () => {
  const disk = "36001405abc";
  interface Asked {
    readonly grant?: Partial<Grant> | null;
    readonly source?: VolumeSource;
    readonly found?: string;
    readonly giving?: string;
    readonly deleted?: true;
    readonly observedUID?: string;
  }
  const local: VolumeSource = { local: { path: "/dev/sdb" } };
  const iscsi = (readOnly: boolean): VolumeSource => ({
    iscsi: { targetPortal: "a", iqn: "iqn.2026-01.example:a", lun: 1, readOnly },
  });
  function members(...all: readonly Asked[]) {
    return all.map(({ grant = { disk: "" }, source = local, found = disk, giving, deleted, observedUID }, index) => {
      const name = `i${index}`;
      const times = { creationTimestamp: `2026-01-01T00:00:0${index}Z`, ...(deleted && { deletionTimestamp: "now" }) };
      const spec = { nodeName: `n${index}`, volumeName: "v", mode: "Manage", source, ...(grant && { grant }) };
      const status = { disk: found, observedUID: observedUID ?? name };
      return { intent: { metadata: { name, uid: name, ...times }, spec, status } as unknown as Intent, giving };
    });
  }
  const decided = (...all: readonly Asked[]) =>
    decideDisk(members(...all)).map((one) =>
      "give" in one
        ? `${one.intent.metadata.name} gets ${one.give}`
        : `${one.intent.metadata.name} waits for ${one.waitReason.on?.name}`,
    );

  it("is who asked first, whatever the others call it", () => {
    expect(decided({ source: iscsi(false) }, {}, { source: iscsi(true) })).to.deep.equal([
      `i0 gets ${disk}`,
      "i1 waits for i0",
      "i2 waits for i0",
    ]);
  });

  for (const [what, holder] of [
    ["was given it", { grant: { disk } }],
    ["was given it, and has found another since", { grant: { disk }, found: "36002" }],
    ["was given it, and is to be released", { grant: { disk }, deleted: true }],
    ["is to be given it, by a write without an answer", { giving: disk, deleted: true }],
    ["has it by a grant of before", { grant: {}, deleted: true }],
    ["has all of it", { grant: { disk: `${disk}` } }],
  ] as const) {
    it(`is not another than who ${what}`, () => {
      expect(decided({ found: `${disk}, start 2048` }, holder).filter((one) => one.startsWith("i0"))).to.deep.equal([
        "i0 waits for i1",
      ]);
    });
  }

  it("are all who only read, beside no writer", () => {
    const reads = { source: iscsi(true) };
    expect(decided(reads, reads)).to.deep.equal([`i0 gets ${disk}`, `i1 gets ${disk}`]);
    expect(decided({ ...reads, grant: { disk } }, {})).to.deep.equal(["i1 waits for i0"]);
  });

  it("are two who have two partitions of it", () => {
    const [a, b] = [`${disk}, start 2048`, `${disk}, start 4096`];
    expect(decided({ found: a }, { found: b })).to.deep.equal([`i0 gets ${a}`, `i1 gets ${b}`]);
  });

  it("is not exchanged for another that the node has found since", () => {
    expect(decided({ grant: { disk: "36002" } })).to.deep.equal([]);
  });

  it("is nobody whose status is of an intent of before, who was granted nothing, or who is to be released", () => {
    expect(decided({ observedUID: "before" }, { grant: null }, { deleted: true })).to.deep.equal([]);
  });

  it("is nobody whose volume is no such disk, whatever the status says that its node writes", () => {
    for (const source of [{ nfs: { server: "a", path: "/" } }, { hostPath: { path: "/a" } }, { emptyDir: {} }]) {
      for (const grant of [{}, { disk: "" }]) {
        expect(decided({ source: source as VolumeSource, grant }, {})).to.deep.equal([`i1 gets ${disk}`]);
      }
    }
  });

  it("is told to those who had it on two nodes before there was that", () => {
    expect(decided({ grant: {} }, { grant: {} })).to.deep.equal(["i0 waits for i1", "i1 waits for i0"]);
    expect(decided({ grant: {} }), "and who has it alone gets it").to.deep.equal([`i0 gets ${disk}`]);
  });
});

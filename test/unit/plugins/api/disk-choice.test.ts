import { expect } from "chai";
import type { DiskSelector } from "../../../../src/api/types.gen.ts";
import type { Disk } from "../../../../src/host/ports/disk.ts";
import {
  askedText,
  type ChosenDisk,
  chosenOf,
  contentsName,
  disksText,
  isOneDisk,
  isOtherDisk,
  isSameDisk,
  matches,
  refusalOf,
  strangeReason,
} from "../../../../src/plugins/api/disk-choice.ts";

const GiB = 2 ** 30;
const ssd: Disk = {
  name: "nvme0n1",
  deviceNumber: "259:0",
  sizeBytes: 512 * GiB,
  identity: "259:0, 512 GiB, eui.1",
  lastingName: "eui.1",
  wwid: "eui.1",
  serial: "S1",
  model: "Fast 1",
  rotational: false,
  transport: "nvme",
  ids: ["nvme-Fast_1_S1", "nvme-eui.1"],
};
const { lastingName: _none, ...nameless } = ssd;

describe("which disk is meant", () => {
  const cases: readonly [DiskSelector, boolean][] = [
    [{ byID: "nvme-eui.1" }, true],
    [{ byID: "nvme-eui" }, false],
    [{ wwid: "eui.1", serial: "S1", model: "Fast 1" }, true],
    [{ serial: "S1", model: "Fast 2" }, false],
    [{ minSize: "512Gi", maxSize: 512 * GiB }, true],
    [{ minSize: 512 * GiB + 1 }, false],
    [{ maxSize: "511Gi" }, false],
    [{ rotational: false, transport: "nvme" }, true],
    [{ rotational: true }, false],
    [{ transport: "ata" }, false],
    [{ empty: true }, true], // that takes a look at what is on it
  ];
  for (const [asked, expected] of cases) {
    it(`${askedText(asked)}: ${expected}`, () => expect(matches(asked, ssd)).to.equal(expected));
  }

  it("a loop device only where it is named", () => {
    const loop: Disk = { ...nameless, name: "loop0", transport: "loop" };
    expect(matches({ empty: true }, loop)).to.equal(false);
    expect(matches({ empty: true, transport: "loop" }, loop)).to.equal(true);
  });

  describe("an empty one that is not named", () => {
    const asked: DiskSelector = { transport: "nvme", empty: true };
    const look = { empty: true, seen: ["eui.1"] };
    const cases: readonly [string, RegExp | undefined, Parameters<typeof strangeReason>][] = [
      ["was there from the beginning", undefined, [asked, ssd, look]],
      ["came later", /was not there when/, [asked, ssd, { ...look, seen: ["eui.2"] }]],
      ["came later, and is asked for by size alone", /was not there/, [{ minSize: 1 }, ssd, { ...look, seen: [] }]],
      ["has no name that tells it", /was not there/, [asked, { ...nameless, identity: undefined } as never, look]],
      ["is attached by iSCSI", /attached by iscsi/, [{ minSize: 1 }, { ...ssd, attached: "iscsi" }, look]],
      ["is attached by Fibre Channel", /attached by fc/, [{ minSize: 1 }, { ...ssd, attached: "fc" }, look]],
      [
        "is attached by NVMe over fabrics",
        /by nvme over tcp/,
        [{ minSize: 1 }, { ...ssd, attached: "nvme over tcp" }, look],
      ],
      ["is asked for by nothing else", /not necessarily the intended one/, [{ empty: true }, ssd, look]],
      ["came later, but is named", undefined, [{ serial: "S1", empty: true }, ssd, { ...look, seen: [] }]],
      ["came later, and is not empty", undefined, [asked, ssd, { empty: false, seen: [] }]],
    ];
    for (const [what, expected, args] of cases) {
      it(`${what}: ${expected === undefined ? "taken" : "not taken"}`, () => {
        const reason = strangeReason(...args);
        if (expected === undefined) expect(reason).to.equal(undefined);
        else expect(reason).to.match(expected);
      });
    }
  });

  it("one that others reach is not taken for its label, which they can write, unless it is named", () => {
    const there = { empty: false, seen: ["eui.1"] };
    const lun = { ...ssd, attached: "fc" };
    expect(strangeReason({ label: "data" }, lun, there)).to.match(/attached by fc.*any label/);
    expect(strangeReason({ label: "data", serial: "S1" }, lun, there)).to.equal(undefined);
    expect(strangeReason({ label: "data" }, ssd, there)).to.equal(undefined);
    expect(strangeReason({ label: "data" }, ssd, { ...there, seen: [] }), "it may come later").to.equal(undefined);
    expect(strangeReason({ transport: "fc" }, lun, there), "it is not named by what is on it").to.equal(undefined);
  });

  it("a disk that somebody uses is never taken, whatever is asked", () => {
    for (const asked of [{}, { empty: true }, { empty: false }]) {
      expect(refusalOf(asked, { empty: false, busy: "it is mounted" })).to.equal("it is mounted");
      expect(refusalOf(asked, "it cannot be read")).to.equal("it cannot be read");
    }
  });

  it("a disk that others only read is taken for the file system that is on it, and not because it is empty", () => {
    const read = { empty: false, busy: "smartd has it open", allowsMount: true } as const;
    for (const asked of [{}, { empty: false }]) {
      expect(refusalOf(asked, { ...read, signature: "ext4" })).to.equal(undefined);
      expect(refusalOf(asked, read), "it would be formatted").to.equal(read.busy);
    }
    expect(refusalOf({ empty: true }, { ...read, signature: "ext4" })).to.equal(read.busy);
  });

  it("empty: true takes no disk with anything on it, empty: false none without", () => {
    expect(refusalOf({ empty: true }, { empty: true })).to.equal(undefined);
    expect(refusalOf({ empty: true }, { empty: false, signature: "xfs" })).to.equal("it is not empty: xfs");
    expect(refusalOf({ empty: true }, { empty: false })).to.include("data without a signature");
    expect(refusalOf({ empty: false }, { empty: true })).to.equal("it is empty");
    expect(refusalOf({}, { empty: false, signature: "ext4" })).to.equal(undefined);
  });

  it("label takes the disk whose file system has it, and no other", () => {
    const look = { empty: false, signature: "ext4" };
    expect(refusalOf({ label: "data" }, { ...look, label: "data" })).to.equal(undefined);
    expect(refusalOf({ label: "data" }, { ...look, label: "Data" })).to.equal("its label is Data");
    expect(refusalOf({ label: "data" }, look)).to.equal("it has no label");
    expect(refusalOf({ label: "data" }, { empty: true })).to.equal("it has no label");
  });
});

describe("whether a disk is proved to be another than the one on record", () => {
  const [mine, other] = [
    { sizeBytes: GiB, uuid: "uuid-1" },
    { sizeBytes: GiB, uuid: "uuid-2" },
  ];
  const lun = "6001405abc0000000000000000000001";
  const [path, map] = [{ lastingName: `naa.${lun}` }, { lastingName: `mpath-3${lun}` }];
  const [part, mapPart] = [
    { lastingName: `${path.lastingName}, start 2048` },
    { lastingName: `part1-${map.lastingName}` },
  ];
  const cases: readonly [string, ChosenDisk, ChosenDisk, boolean][] = [
    [
      "in this boot it is known, whatever is on it",
      { ...mine, identity: "disk 1" },
      { ...other, identity: "disk 1" },
      false,
    ],
    ["a name for life tells", { ...mine, lastingName: "eui.1" }, { ...mine, lastingName: "eui.2" }, true],
    ["whatever is on it", { ...mine, lastingName: "eui.1" }, { ...other, lastingName: "eui.1" }, false],
    ["a map of multipath is its paths", { ...mine, ...path }, { ...other, ...map }, false],
    ["and they are it", { ...mine, ...map }, { ...other, ...path }, false],
    ["not those of another", { ...mine, ...path }, { ...mine, lastingName: "mpath-360002" }, true],
    ["its partition by number is told by what is on it", { ...mine, ...part }, { ...mine, ...mapPart }, false],
    ["and is another then", { ...mine, ...part }, { ...other, ...mapPart }, true],
    ["a partition is not the disk", { ...mine, ...path }, { ...mine, ...part }, true],
    ["of disks without one the file system tells", mine, other, true],
    ["a disk that has got a name by a new driver is known by that", mine, { ...mine, lastingName: "eui.1" }, false],
    ["one that was begun, and had no file system yet, may be it", { sizeBytes: GiB }, mine, false],
    ["one that has nothing any more would be formatted", mine, { sizeBytes: GiB }, true],
  ];
  for (const [what, before, now, expected] of cases) {
    it(`${what}: ${expected}`, () => expect(isOtherDisk(before, now)).to.equal(expected));
  }

  it("one that people have named is another volume's only if its name is given out once in the world", () => {
    const named = (lastingName: string) => ({ ...mine, lastingName });
    expect(isOneDisk(named("naa.6001"), named("naa.6001"))).to.equal(true);
    expect(isOneDisk(named("0123456789"), named("0123456789")), "of two cheap adapters").to.equal(false);
    expect(isOneDisk(mine, mine), "a copy of a file system").to.equal(false);
    expect(isOneDisk({ ...mine, identity: "disk 1" }, { ...other, identity: "disk 1" })).to.equal(true);
  });
});

describe("whether a disk is the one on record", () => {
  const recorded = chosenOf(ssd, "uuid-1");
  const others: readonly [string, ChosenDisk, boolean][] = [
    ["another number and boot", { ...recorded, identity: "8:16, eui.1" }, true],
    ["another name of its own", { ...recorded, identity: "8:16, eui.2", lastingName: "eui.2" }, false],
    ["its name with another size, as it has grown", { ...recorded, identity: "8:16, eui.1", sizeBytes: GiB }, true],
  ];
  for (const [what, other, expected] of others) {
    it(`${what}: ${expected}`, () => expect(isSameDisk(recorded, other)).to.equal(expected));
  }

  it("without a name of its own by the file system, and never by nothing", () => {
    const before = { ...chosenOf(nameless, "uuid-1"), identity: "7:0, disk 3 of boot 1" };
    const after = { ...chosenOf(nameless, "uuid-1"), identity: "7:1, disk 9 of boot 2" };
    expect(isSameDisk(before, after)).to.equal(true);
    expect(isSameDisk(before, { ...after, uuid: "uuid-2" })).to.equal(false);
    expect(isSameDisk({ sizeBytes: GiB }, { sizeBytes: GiB })).to.equal(false);
  });
});

describe("disks in messages", () => {
  it("are named with why each is not taken, and counted where they are many", () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ ...ssd, name: `sd${index}` }));
    const text = disksText(many, ({ name }) => (name === "sd0" ? "it is mounted" : undefined));
    expect(text).to.match(/^sd0 \(549755813888 bytes, nvme, eui\.1; it is mounted\), sd1 \(/);
    expect(text).to.match(/ and 2 more$/);
  });

  it("what is to be destroyed is named by disk and contents, in one word", () => {
    const device = { path: "/dev/sda", deviceNumber: "8:0", sizeBytes: GiB, empty: false };
    const contents = "0123456789abcdef";
    expect(contentsName({ ...ssd, lastingName: "t10.ATA  A@B" }, { ...device, contents })).to.equal(
      `t10.ATA_A_B@${contents}`,
    );
    expect(contentsName(undefined, { ...device, contents })).to.equal(`8:0@${contents}`);
    expect(contentsName(ssd, device)).to.equal(undefined);
  });
});

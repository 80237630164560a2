import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import { devicesBeneath } from "../../../../../src/host/linux/device/devices-beneath.ts";

/** By the place of a device its number, and what its links in `slaves` lead to. */
const devices: { readonly [place: string]: readonly [number: string, ...members: string[]] } = {
  "pci/sda": ["8:0"],
  "pci/sda/sda2": ["8:2"],
  "pci/sdb": ["8:16"],
  "pci/sdc": ["8:32"],
  "virtual/dm-0": ["253:0", "pci/sdb", "pci/sdc"], // multipath
  "virtual/dm-1": ["253:1", "pci/sda/sda2", "virtual/dm-0"], // a logical volume
  "virtual/dm-2": ["253:2", "virtual/dm-1"], // LUKS
  "virtual/loop5": ["7:5"],
  "virtual/dm-3": ["253:3", "virtual/loop5"],
};

/** A tree that is made, not sysfs. */
describe("all devices beneath one", () => {
  let sys: string;

  before(() => {
    sys = realpathSync(mkdtempSync(`${tmpdir()}/nvo-beneath-`));
    mkdirSync(`${sys}/dev/block`, { recursive: true });
    const put = (file: string, text: string) => {
      mkdirSync(dirname(`${sys}/${file}`), { recursive: true });
      writeFileSync(`${sys}/${file}`, text);
    };
    for (const [place, [number, ...members]] of Object.entries(devices)) {
      put(`${place}/dev`, `${number}\n`);
      mkdirSync(`${sys}/${place}/slaves`);
      symlinkSync(`${sys}/${place}`, `${sys}/dev/block/${number}`);
      for (const member of members)
        symlinkSync(`${sys}/${member}`, `${sys}/${place}/slaves/${member.replace(/^.*\//, "")}`);
    }
    put("pci/sda/sda2/partition", "2\n");
    put("virtual/loop5/loop/backing_file", "/dev/sda2\n");
  });
  after(() => rmSync(sys, { recursive: true }));

  const beneath = (number: string, ofLoop = "8:2") =>
    devicesBeneath(number, { sys, beneathLoop: () => ofLoop || undefined }).map(({ name }) => name);

  for (const [what, number, names] of [
    ["of a disk: none", "8:16", []],
    ["of a partition: its disk", "8:2", ["sda"]],
    ["of a multipath map: its paths", "253:0", ["sdb", "sdc"]],
    ["of a logical volume: its members, and what those are made of", "253:1", ["sda2", "dm-0", "sda", "sdb", "sdc"]],
    ["of LUKS on it: the same, and it", "253:2", ["dm-1", "sda2", "dm-0", "sda", "sdb", "sdc"]],
    ["of what is made of a loop device: what that is made of", "253:3", ["loop5", "sda2", "sda"]],
    ["of a device that has gone: none", "8:99", []],
  ] as const) {
    it(what, () => expect([...beneath(number)].sort()).to.deep.equal([...names].sort()));
  }

  it("of a loop device on a file: none", () => expect(beneath("7:5", "")).to.deep.equal([]));

  it("are the nearest first, with their numbers and places", () => {
    expect(devicesBeneath("8:2", { sys })).to.deep.equal([
      { name: "sda", deviceNumber: "8:0", place: `${sys}/pci/sda` },
    ]);
    expect(beneath("253:2")[0]).to.equal("dm-1");
  });
});

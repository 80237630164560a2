import { expect } from "chai";
import { regionsOf } from "../../../src/host/linux/looked-at.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;

describe("where a device is looked at for data", () => {
  const seen = (sizeBytes: number, at: number) => regionsOf(sizeBytes).some(({ from, to }) => from <= at && at < to);

  it("a small one is read whole", () => {
    expect(regionsOf(71 * MiB)).to.deep.equal([{ from: 0, to: 71 * MiB }]);
    expect(regionsOf(0)).to.deep.equal([{ from: 0, to: 0 }]);
  });

  const cases: readonly [string, number, number][] = [
    ["its last byte", 3 * TiB + 512, 3 * TiB + 511],
    ["the first copy of an ext4 of blocks of 1 KiB", 300 * MiB, 8193 * KiB],
    ["its copy in group 27", 300 * MiB, (27 * 8192 + 1) * KiB],
    ["the first copy of an ext4 of blocks of 4 KiB", 20 * GiB, 32768 * 4 * KiB],
    ["its copy in group 49", 20 * GiB, 49 * 32768 * 4 * KiB],
    ["the copy of a btrfs", 1 * GiB, 64 * MiB + (64 * KiB) / 1024],
    ["its second copy", 300 * GiB, 256 * GiB],
    ["the copy of a partition table before the disk grew from 10 GiB", 25 * GiB, 10 * GiB - 512],
    ["the same from 512 GiB", TiB, 512 * GiB - 512],
    ["RAID's superblock of before it grew from 300 GiB", 900 * GiB, 300 * GiB - 64 * KiB],
    ["what began behind an old end", 3 * GiB, 2 * GiB],
    ["the second allocation group of an xfs", 500 * GiB, 125 * GiB],
    ["the last one", 500 * GiB, 375 * GiB],
  ];
  for (const [what, sizeBytes, at] of cases) {
    it(what, () => expect(seen(sizeBytes, at)).to.equal(true));
  }

  it("of the rest samples, so that data of a hundredth of any device is seen, in order and without overlap", () => {
    for (const sizeBytes of [129 * MiB, 20 * GiB + 12345 * 512, 16 * TiB]) {
      const regions = regionsOf(sizeBytes);
      for (const [i, { from, to }] of regions.entries()) {
        expect(from)
          .to.be.below(to)
          .and.to.be.above(regions[i - 1]?.to ?? -1);
        expect(to).to.be.at.most(sizeBytes);
        expect((regions[i + 1]?.from ?? sizeBytes) - to).to.be.at.most(sizeBytes / 100);
      }
      const read = regions.reduce((sum, { from, to }) => sum + to - from, 0);
      expect(read, "little is read").to.be.below(160 * MiB);
      expect(regions.length).to.be.below(700);
    }
  });
});

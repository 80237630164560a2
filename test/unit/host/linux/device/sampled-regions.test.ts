import { expect } from "chai";
import { sampledRegions } from "../../../../../src/host/linux/device/sampled-regions.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;

describe("where a device is looked at for data", () => {
  const seen = (sizeBytes: number, at: number) =>
    sampledRegions(sizeBytes).some(({ from, to }) => from <= at && at < to);

  it("a small one is read whole", () => {
    expect(sampledRegions(71 * MiB)).to.deep.equal([{ from: 0, to: 71 * MiB }]);
    expect(sampledRegions(0)).to.deep.equal([{ from: 0, to: 0 }]);
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

  const atEnd = (of: number, behind: number) => of - behind;
  const aligned = (of: number, to: number) => Math.floor(of / to) * to;
  /**
   * Where formats have what they are known by, from their own definitions: counted from the beginning, or by the size
   * of the device.
   */
  const known: readonly (readonly [what: string, at: (size: number) => number])[] = [
    ["LUKS, BitLocker, APFS, BlueStore, XFS", () => 0],
    ["a table of DOS", () => 510],
    ["LVM, GPT, dm-integrity", () => 512],
    ["ext2, ext3 and ext4, and their journal on a disk of its own", () => 1024 + 0x38],
    ["swap, or what hibernation has left there, of pages of 4 KiB", () => 4086],
    ["the same of pages of 16 KiB", () => 16 * KiB - 10],
    ["the same of pages of 64 KiB", () => 64 * KiB - 10],
    ["bcache, bcachefs, RAID 1.2", () => 4096 + 24],
    ["a second LUKS header of 16 KiB", () => 16 * KiB],
    ["a second LUKS header of 2 MiB", () => 2 * MiB],
    ["a second LUKS header of 4 MiB", () => 4 * MiB],
    ["ISO 9660, UDF", () => 32 * KiB + 1],
    ["ReiserFS, btrfs, GFS2", () => 64 * KiB + 64],
    ["ZFS", () => 128 * KiB],
    ["UDF's anchor", () => 512 * KiB],
    ["VMFS", () => MiB],
    ["ZFS's last label", (size) => aligned(size, 256 * KiB) - 256 * KiB],
    ["ZFS's third label", (size) => aligned(size, 256 * KiB) - 512 * KiB],
    ["UDF's anchor at the end", (size) => atEnd(size, 512 * KiB)],
    ["RAID 0.90", (size) => aligned(size, 64 * KiB) - 64 * KiB],
    ["RAID 1.0", (size) => aligned(atEnd(size, 8 * KiB), 4 * KiB)],
    ["DRBD", (size) => atEnd(size, 4096)],
    ["NILFS2's copy", (size) => aligned(size, 4096) - 4096],
    ["IMSM, HFS+'s copy", (size) => atEnd(size, 1024)],
    ["DDF, NTFS's copy, GPT's copy", (size) => atEnd(size, 512)],
  ];
  for (const [what, at] of known) {
    it(`${what}, of a disk of any size`, () => {
      for (const size of [129 * MiB, GiB, 465 * GiB + 12345 * 512, 10 * TiB, 64 * TiB])
        expect(seen(size, at(size)), `${size}`).to.equal(true);
    });
  }

  it("the copies of OCFS2 and of BlueStore, an ext4 of large pages, as far as the disk reaches", () => {
    const ocfs2 = [1, 4, 16, 64, 256, 1024].map((gibi) => gibi * GiB);
    const blueStore = [1, 10, 100, 1000].map((gibi) => gibi * GiB);
    const ofPages = [8, 16, 32].flatMap((kibi) => [1, 3, 5, 7].map((group) => group * 8 * (kibi * KiB) ** 2));
    for (const at of [...ocfs2, ...blueStore, ...ofPages]) expect(seen(10 * TiB, at), `${at}`).to.equal(true);
  });

  it("of the rest samples, so that data of a hundredth of any device is seen, in order and without overlap", () => {
    for (const sizeBytes of [129 * MiB, 20 * GiB + 12345 * 512, 16 * TiB]) {
      const regions = sampledRegions(sizeBytes);
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

import { expect } from "chai";
import {
  headBytes,
  isJournalElsewhere,
  needsJournalRecovery,
} from "../../../../../src/host/linux/device/journal-recovery.ts";
import { readOnlyOptions } from "../../../../../src/plugins/local/read-only-device.ts";

const head = (write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(headBytes);
  write(bytes);
  return bytes;
};
const ext = (at: number, value: number) =>
  head((bytes) => {
    bytes.writeUInt16LE(0xef53, 0x438);
    bytes.writeUInt32LE(value, at);
  });
const btrfs = (logRoot: bigint) =>
  head((bytes) => {
    bytes.write("_BHRfS_M", 0x10040, "latin1");
    bytes.writeBigUInt64LE(logRoot, 0x10060);
  });

describe("needsJournalRecovery", () => {
  const heads: readonly (readonly [string, Buffer, boolean])[] = [
    ["nothing at all", head(() => {}), false],
    ["an ext4 that was unmounted", ext(0x460, 0x2c2), false],
    ["an ext4 that needs recovery", ext(0x460, 0x2c6), true],
    ["an ext4 with a list of orphans", ext(0x4e8, 12), true],
    ["an ext4 with a file of orphans", ext(0x464, 0x10000), true],
    ["a btrfs that was unmounted", btrfs(0n), false],
    ["a btrfs with a log tree", btrfs(30_441_472n), true],
    ["a device that is too small", ext(0x460, 0x2c6).subarray(0, 0x10000), false],
  ];
  for (const [what, bytes, left] of heads) it(what, () => expect(needsJournalRecovery(bytes)).to.equal(left));
});

describe("isJournalElsewhere", () => {
  const journal = (inode: number) =>
    head((bytes) => {
      bytes.writeUInt16LE(0xef53, 0x438);
      bytes.writeUInt32LE(0x4, 0x45c);
      bytes.writeUInt32LE(inode, 0x4e0);
    });
  const heads: readonly (readonly [string, Buffer, boolean])[] = [
    ["nothing at all", head(() => {}), false],
    ["an ext2, which has no journal", ext(0x45c, 0x38), false],
    ["an ext4 with a journal of its own", journal(8), false],
    ["an ext4 whose journal is on another device", journal(0), true],
    ["a device that is too small", journal(0).subarray(0, 0x10000), false],
  ];
  for (const [what, bytes, elsewhere] of heads) it(what, () => expect(isJournalElsewhere(bytes)).to.equal(elsewhere));
});

describe("readOnlyOptions", () => {
  it("keeps each file system from its journal, and leaves out what is of that", () => {
    expect(readOnlyOptions("ext2", ["acl"])).to.deep.equal(["acl", "ro"]);
    expect(readOnlyOptions("ext4", ["acl", "commit=5", "data=journal", "journal_checksum"])).to.deep.equal([
      ...["acl", "ro", "norecovery"],
    ]);
    expect(readOnlyOptions("xfs", [])).to.deep.equal(["ro", "norecovery"]);
    expect(readOnlyOptions("btrfs", ["commit=5"])).to.deep.equal(["commit=5", "ro", "rescue=nologreplay"]);
  });
});

/** Bytes at the beginning of a device in which `needsJournalRecovery` looks. */
export const headBytes = 0x10000 + 0x1000;

/** Superblocks, and what of them is read: fs/ext4/ext4.h, fs/btrfs/accessors.h. */
const ext = {
  magic: 0x438,
  compatible: 0x45c,
  incompatible: 0x460,
  readOnlyCompatible: 0x464,
  journalInode: 0x4e0,
  lastOrphan: 0x4e8,
} as const;
const hasJournal = 0x4;
const needsRecovery = 0x4;
const orphanPresent = 0x10000;
const btrfs = { magic: 0x10040, logRoot: 0x10060 } as const;

/**
 * PURE. Whether an ext3, ext4 or btrfs was left with what a mount would bring to its place, or take away, even one for
 * reading: its journal, files that were deleted while they were open, its log tree. xfs has no place that says so.
 * @param head the first bytes of the device
 */
export function needsJournalRecovery(head: Buffer): boolean {
  if (head.length < headBytes) return false; // no file system with a journal is that small
  if (isExt(head)) {
    const recovers = (head.readUInt32LE(ext.incompatible) & needsRecovery) !== 0;
    const orphans = (head.readUInt32LE(ext.readOnlyCompatible) & orphanPresent) !== 0;
    return recovers || orphans || head.readUInt32LE(ext.lastOrphan) !== 0;
  }
  const isBtrfs = head.toString("latin1", btrfs.magic, btrfs.magic + 8) === "_BHRfS_M";
  return isBtrfs && head.readBigUInt64LE(btrfs.logRoot) !== 0n;
}

/** PURE. Whether the journal of an ext3 or ext4 is on another device, which its superblock names by UUID and number. */
export function isJournalElsewhere(head: Buffer): boolean {
  if (head.length < headBytes || !isExt(head)) return false;
  return (head.readUInt32LE(ext.compatible) & hasJournal) !== 0 && head.readUInt32LE(ext.journalInode) === 0;
}

function isExt(head: Buffer): boolean {
  return head.readUInt16LE(ext.magic) === 0xef53;
}

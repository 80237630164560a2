/** A part of a device. */
export interface Region {
  readonly from: number;
  readonly to: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** Bytes at each end: superblocks, labels and tables of all file systems in use begin within them. */
const ends = 4 * MiB;
/** A device of at most so many bytes is read whole: that takes no longer than to look at the places of a large one. */
const whole = 128 * MiB;
/** Pages of the rest: of devices that are filled to a hundredth, twelve in thirteen are seen not to be empty. */
const samples = 256;
const page = 4 * KiB;
/** Before an old end stand RAID's superblock and the copy of a partition table, behind it what began there. */
const [beforeEnd, behindEnd] = [128 * KiB, 64 * KiB];
/** Of ext2, ext3 and ext4: each group of blocks has as many as a bitmap of one block has bits. */
const extBlocks = [1 * KiB, 2 * KiB, 4 * KiB, 64 * KiB];
const btrfsMirrors = [64 * MiB, 256 * GiB, 1024 * 1024 * GiB];

/**
 * PURE. Where a device is looked at for data, in order and without overlap: both ends, where file systems keep copies
 * of their superblocks, where it may have ended before it was made larger, and samples of all the rest. It is proof of
 * data, and of emptiness only where a device is read whole.
 */
export function sampledRegions(sizeBytes: number): readonly Region[] {
  if (sizeBytes <= whole) return [{ from: 0, to: sizeBytes }];
  const places = [...extCopies(sizeBytes), ...btrfsMirrors].map((at) => ({ from: at, to: at + page }));
  const bounds = oldEnds(sizeBytes).map((at) => ({ from: at - beforeEnd, to: at + behindEnd }));
  const step = sizeBytes / samples;
  const sampled = Array.from({ length: samples }, (_, i) => {
    const at = Math.floor((i * step) / page) * page;
    return { from: at, to: at + page };
  });
  const ofEnds = [
    { from: 0, to: ends },
    { from: sizeBytes - ends, to: sizeBytes },
  ];
  return merged([...ofEnds, ...places, ...bounds, ...sampled], sizeBytes);
}

/** Copies stand in the groups 1, 3^n, 5^n and 7^n (sparse_super). */
function extCopies(sizeBytes: number): number[] {
  return extBlocks.flatMap((block) => {
    const groupBytes = 8 * block * block;
    const first = block === KiB ? KiB : 0;
    const powers = [3, 5, 7].flatMap((base) => powersOf(base, sizeBytes / groupBytes));
    return [1, ...powers].map((group) => group * groupBytes + first);
  });
}

/** Sizes that disks have, and the quarters of this one: there stand the copies of xfs. */
function oldEnds(sizeBytes: number): number[] {
  const binary = powersOf(2, sizeBytes / MiB).flatMap((n) => [1, 1.25, 1.5, 1.75].map((by) => n * by * MiB));
  const decimal = [1, ...powersOf(10, sizeBytes / GiB)].flatMap((n) =>
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((by) => n * by * GiB),
  );
  const quarters = [1, 2, 3].map((part) => Math.floor((sizeBytes * part) / 4 / page) * page);
  return [...binary, ...decimal, ...quarters];
}

function powersOf(base: number, below: number): number[] {
  const powers: number[] = [];
  for (let power = base; power <= below; power *= base) powers.push(power);
  return powers;
}

function merged(regions: readonly Region[], sizeBytes: number): Region[] {
  const inside = regions.filter(({ from }) => from < sizeBytes);
  const all: Region[] = [];
  for (const { from, to } of inside.sort((a, b) => a.from - b.from)) {
    const [start, end] = [Math.max(0, from), Math.min(to, sizeBytes)];
    const last = all.at(-1);
    if (last !== undefined && start <= last.to) all[all.length - 1] = { from: last.from, to: Math.max(last.to, end) };
    else all.push({ from: start, to: end });
  }
  return all;
}

import type { SeededRandom } from "../../sim/random.ts";

/** Bytes that mean something to a mountinfo, to a protobuf message, or to UTF-8. */
const telling = [0x00, 0x08, 0x0a, 0x0b, 0x0c, 0x12, 0x20, 0x2d, 0x2f, 0x30, 0x37, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xff];
const longestInsert = 64;

/**
 * PURE. `bytes` with one to four changes: bits, bytes, and stretches that go, come twice, or come from another input.
 */
export function mutatedBytes(bytes: Buffer, others: readonly Buffer[], random: SeededRandom): Buffer {
  let mutated: Buffer = Buffer.from(bytes);
  for (let left = 1 + random.below(4); left > 0; left--) mutated = changed(mutated, others, random);
  return mutated;
}

function changed(bytes: Buffer, others: readonly Buffer[], random: SeededRandom): Buffer {
  const at = random.below(bytes.length + 1);
  const until = Math.min(bytes.length, at + 1 + random.below(random.chance(0.2) ? 200 : 6));
  const stretch = bytes.subarray(at, until);
  const around = (between: Uint8Array, from = until) =>
    Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(from)]);
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(stretch.subarray(0, 1));
      if (flipped.length > 0) flipped[0] = (flipped[0] ?? 0) ^ (1 << random.below(8));
      return around(flipped, Math.min(bytes.length, at + 1));
    }
    case 1:
      return around(Buffer.from([random.pick(telling)]), Math.min(bytes.length, at + 1));
    case 2:
      return around(Buffer.from(Array.from({ length: 1 + random.below(longestInsert) }, () => random.below(256))), at);
    case 3:
      return around(Buffer.alloc(1 + random.below(longestInsert), random.pick(telling)), at);
    case 4:
      return around(new Uint8Array());
    case 5:
      return around(Buffer.concat(Array.from({ length: 2 + random.below(4) }, () => stretch)));
    case 6:
      return bytes.subarray(0, at);
    default: {
      const other = random.pick(others);
      const start = random.below(other.length + 1);
      return around(other.subarray(start, start + random.below(200)), at);
    }
  }
}

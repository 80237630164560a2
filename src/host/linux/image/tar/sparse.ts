import type { ByteStream } from "../../syscall/byte-stream.ts";
import { corruptLayer } from "../corrupt-layer.ts";
import type { Pax } from "./pax.ts";
import { inRange, numberIn, whole } from "./tar-fields.ts";

/** A piece of a file that an archive has; what is between pieces are holes. */
interface Piece {
  readonly at: number;
  readonly length: number;
}

/** A file of which an archive has only some pieces, one after the other. */
export interface Sparse {
  readonly size: number;
  readonly pieces: readonly Piece[];
  /** Bytes of the archive that the pieces are. */
  readonly stored: number;
}

const block = 512;
const largestMap = 1024 * 1024;

/**
 * What GNU tar says of a sparse file, in each of its formats ("Storing Sparse Files" of its manual): its own, pax 0.0
 * and 0.1, where the map is in the header, and pax 1.0, where it comes before the pieces.
 * @param stored bytes of the archive that the entry has
 * @returns undefined if the file is not sparse
 */
export async function readSparse(
  header: Buffer,
  pax: Pax,
  stored: number,
  bytes: ByteStream,
): Promise<Sparse | undefined> {
  if (header[156] === 0x53) {
    if (header.toString("latin1", 257, 263) !== "ustar ")
      throw corruptLayer("has a sparse file in a header that is not GNU tar's");
    const numbers = await oldMap(header, bytes);
    return checked(numberIn(header, 483, 12), numbers, stored);
  }
  const version = [pax.get("GNU.sparse.major"), pax.get("GNU.sparse.minor")].join(".");
  const map = pax.get("GNU.sparse.map");
  if (version === "." && map === undefined) return undefined;
  const size = whole(pax.get("GNU.sparse.realsize") ?? pax.get("GNU.sparse.size") ?? "");
  if (version === "1.0") {
    const { numbers, taken } = await mapBefore(bytes, stored);
    return checked(size, numbers, stored - taken);
  }
  if (![".", "0.0", "0.1"].includes(version))
    throw corruptLayer(`has a sparse file of the format ${version}, which is not known`);
  return checked(size, map === undefined ? [] : map.split(",").map(whole), stored);
}

/** Pairs of offset and length: four in the header, more in blocks after it as long as there is said to be one. */
async function oldMap(header: Buffer, bytes: ByteStream): Promise<bigint[]> {
  const numbers: bigint[] = [];
  const take = (from: Buffer, at: number, pairs: number) => {
    for (let end = at + pairs * 24; at < end && from[at] !== 0; at += 12) numbers.push(numberIn(from, at, 12));
  };
  take(header, 386, 4);
  for (let more = header[482] !== 0; more; ) {
    const next = await bytes.whole(block);
    take(next, 0, 21);
    more = next[504] !== 0;
    if (numbers.length > largestMap / 12) throw corruptLayer("has a map of a sparse file that is too large");
  }
  return numbers;
}

/** How many pairs, then the pairs, a number a line, filled up to blocks. */
async function mapBefore(bytes: ByteStream, stored: number): Promise<{ numbers: bigint[]; taken: number }> {
  const numbers: bigint[] = [];
  let begun = "";
  for (let taken = 0; taken + block <= Math.min(stored, largestMap); ) {
    const lines = (begun + (await bytes.whole(block)).toString("latin1")).split("\n");
    taken += block;
    begun = lines.pop() ?? "";
    numbers.push(...lines.map(whole));
    const [pairs] = numbers;
    if (pairs !== undefined && BigInt(numbers.length) > 2n * pairs) {
      return { numbers: numbers.slice(1, 1 + 2 * Number(pairs)), taken };
    }
  }
  throw corruptLayer("has a map of a sparse file that cannot be read");
}

function checked(realSize: bigint, numbers: readonly bigint[], stored: number): Sparse {
  const size = inRange(realSize, Number.MAX_SAFE_INTEGER, "size");
  const pieces: Piece[] = [];
  let end = 0;
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    const [at, length] = [numbers[index], numbers[index + 1]].map((value) => inRange(value ?? -1n, size, "sparse"));
    if (at === undefined || length === undefined || at < end || length > size - at) {
      throw corruptLayer("has a sparse file whose pieces are not one after the other");
    }
    end = at + length;
    sum += length;
    pieces.push({ at, length });
  }
  if (sum !== stored)
    throw corruptLayer(`has a sparse file whose pieces are ${sum} bytes, not the ${stored} that it has`);
  return { size, pieces, stored };
}

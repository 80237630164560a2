// A picture of a page with 256 colours and one byte a pixel: a third of what the browser writes. Pure but for zlib.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @param png of 8 bits a channel, not interlaced, as Chromium writes it */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decoded(png);
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, at) => [colour, at]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, pixel] of pixels.entries()) {
    const place = places.get(pixel) ?? nearest(palette, pixel);
    places.set(pixel, place);
    rows[at + Math.floor(at / width) + 1] = place;
  }
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("PLTE", colours),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], pixel: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [at, colour] of palette.entries()) {
    const [r, g, b] = [
      (colour >> 16) - (pixel >> 16),
      ((colour >> 8) & 255) - ((pixel >> 8) & 255),
      (colour & 255) - (pixel & 255),
    ];
    const distance = 2 * r * r + 4 * g * g + 3 * b * b;
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function decoded(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const parts: Buffer[] = [];
  let [width, height, bytes] = [0, 0, 0];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      bytes = data[9] === 6 ? 4 : 3;
      if (data[8] !== 8 || (data[9] !== 6 && data[9] !== 2) || data[12] !== 0)
        throw new Error("not a picture as Chromium writes it");
    } else if (type === "IDAT") parts.push(data);
    at += length + 12;
  }
  const raw = unfiltered(inflateSync(Buffer.concat(parts)), width * bytes, height, bytes);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1)
    pixels[at] = ((raw[at * bytes] ?? 0) << 16) | ((raw[at * bytes + 1] ?? 0) << 8) | (raw[at * bytes + 2] ?? 0);
  return { width, height, pixels };
}

function unfiltered(data: Buffer, stride: number, height: number, bytes: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = data[row * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = row * stride + x;
      const left = x >= bytes ? (out[at - bytes] ?? 0) : 0;
      const up = row > 0 ? (out[at - stride] ?? 0) : 0;
      const corner = x >= bytes && row > 0 ? (out[at - stride - bytes] ?? 0) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      out[at] = ((data[row * (stride + 1) + 1 + x] ?? 0) + guess) & 255;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

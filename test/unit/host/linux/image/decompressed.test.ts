import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "chai";
import { decompressed } from "../../../../../src/host/linux/image/decompressed.ts";

async function read(bytes: Buffer, length: number): Promise<string> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }
  const found: Buffer[] = [];
  for await (const piece of decompressed(pieces())) found.push(piece);
  return Buffer.concat(found).toString();
}

const failure = (bytes: Buffer, length: number) =>
  read(bytes, length).then(
    (text) => `read ${text}`,
    (error: { reason?: string; code?: string }) => error.reason ?? error.code,
  );

/** One that zstd:chunked, for one, has its table of contents in. */
function skippable(text: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x184d2a57, 0);
  header.writeUInt32LE(text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

describe("decompressed", () => {
  const [gzip, zstd] = [(text: string) => gzipSync(text), (text: string) => zstdCompressSync(text)];
  const long = "long ".repeat(50_000);
  const whole: { readonly [what: string]: readonly [Buffer, string] } = {
    "nothing at all": [Buffer.alloc(0), ""],
    "what is not compressed": [Buffer.from("PK, not compressed"), "PK, not compressed"],
    "less than a magic number": [Buffer.from("ab"), "ab"],
    "one member of gzip": [gzip(long), long],
    "several members of gzip, one of them empty": [Buffer.concat(["one", "", "two", long].map(gzip)), `onetwo${long}`],
    "gzip with zeros behind it": [Buffer.concat([gzip("one"), Buffer.alloc(70_000)]), "one"],
    "one frame of zstd": [zstd(long), long],
    "several frames of zstd, one of them empty": [Buffer.concat(["one", "", "two", long].map(zstd)), `onetwo${long}`],
    "zstd with frames to be skipped": [
      Buffer.concat([skippable("first"), zstd("one"), skippable(""), zstd("two"), skippable("toc")]),
      "onetwo",
    ],
  };
  for (const [what, [bytes, text]] of Object.entries(whole)) {
    for (const length of [1, 13, 1_000_000]) {
      it(`reads ${what} from pieces of ${length}`, async () => {
        if (length === 1 && bytes.length > 10_000) return;
        expect(await read(bytes, length)).to.equal(text);
      });
    }
  }

  const damaged: { readonly [what: string]: readonly [Buffer, string] } = {
    "gzip that ends too early": [gzip(long).subarray(0, -5), "Z_BUF_ERROR"],
    "gzip whose second member ends too early": [
      Buffer.concat([gzip("one"), gzip("two").subarray(0, 12)]),
      "Z_BUF_ERROR",
    ],
    "gzip with something else behind it": [Buffer.concat([gzip("one"), Buffer.from("else")]), "Z_DATA_ERROR"],
    "gzip with something behind zeros": [Buffer.concat([gzip("one"), Buffer.alloc(9), gzip("two")]), "ContentRefused"],
    "zstd that ends too early": [zstd(long).subarray(0, -5), "Z_BUF_ERROR"],
    "zstd whose second frame ends too early": [Buffer.concat([zstd("one"), zstd("two").subarray(0, 6)]), "Z_BUF_ERROR"],
    "zstd with something else behind it": [
      Buffer.concat([zstd("one"), Buffer.from("something else")]),
      "ZSTD_error_prefix_unknown",
    ],
  };
  for (const [what, [bytes, code]] of Object.entries(damaged)) {
    for (const length of [13, 1_000_000]) {
      it(`refuses ${what}, from pieces of ${length}`, async () => {
        expect(await failure(bytes, length)).to.equal(code);
      });
    }
  }

  it("reads ten thousand frames, as of builders that compress each file alone", async () => {
    const frame = zstd("x");
    expect(await read(Buffer.concat(Array.from({ length: 10_000 }, () => frame)), 65_536)).to.have.length(10_000);
  });

  it("stops at once when what it gives is not wanted any more, though its source waits", async () => {
    const { promise: never } = Promise.withResolvers<Buffer>();
    async function* source() {
      yield gzip(long);
      yield await never;
    }
    for await (const piece of decompressed(source())) {
      expect(piece.length).to.be.greaterThan(0);
      break;
    }
  });
});

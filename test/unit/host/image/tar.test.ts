import { expect } from "chai";
import { ByteStream } from "../../../../src/host/linux/byte-stream.ts";
import { readTar, type TarEntry } from "../../../../src/host/linux/image/tar.ts";
import { entryOf, paxOf, type RawTarEntry, tarOf } from "../../../lib/contract-registry.ts";

/** In pieces of some bytes, as they come from a network. */
async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(archive: Buffer, length = 700): Promise<(TarEntry & { content: string })[]> {
  const found: (TarEntry & { content: string })[] = [];
  await readTar(new ByteStream(pieces(archive, length)), async (entry, each) => {
    let content = "";
    if (entry.path !== "skipped") {
      await each((piece, at) => (content = content.padEnd(at, ".") + piece.toString("latin1")));
      content = content.padEnd(entry.size, ".");
    }
    found.push({ ...entry, content });
  });
  return found;
}

const failure = async (archive: Buffer) =>
  read(archive).then(
    () => "read",
    (error: { reason?: string; name: string }) => error.reason ?? error.name,
  );

describe("readTar", () => {
  for (const length of [1, 512, 1000, 1_000_000]) {
    it(`gives each entry with its bytes, also those after one that was not read, from pieces of ${length}`, async () => {
      const archive = tarOf(
        { name: "a", content: "x".repeat(1000), mode: 0o4755, uid: 12 },
        { name: "skipped", content: "y".repeat(600) },
        { name: "dir/", type: "5" },
        { name: "link", type: "2", target: "a" },
        { name: "b", content: "z".repeat(512) },
      );
      const entries = await read(archive, length);
      expect(entries.map(({ kind, path, content }) => [kind, path, content.length])).to.deep.equal([
        ["file", "a", 1000],
        ["file", "skipped", 0],
        ["directory", "dir/", 0],
        ["link", "link", 0],
        ["file", "b", 512],
      ]);
      expect(entries[0]).to.include({ mode: 0o4755, uid: 12, gid: 12, mtime: 512_000_000_000n, size: 1000 });
      expect(entries[3]?.target).to.equal("a");
    });
  }

  it("takes names, sizes and owners of pax, for one entry, and long names of GNU tar", async () => {
    const long = `${"d/".repeat(100)}é`;
    const archive = tarOf(
      paxOf({ path: long, uid: "3000000", size: "3", mtime: "5.25" }),
      { name: "short", content: "abc" },
      { name: "plain", content: "" },
      { name: "././@LongLink", type: "L", content: `${long}\0` },
      { name: "cut", content: "1" },
      { name: "././@LongLink", type: "K", content: `${long}\0` },
      { name: "link", type: "2", target: "cut" },
    );
    const entries = await read(archive);
    expect(entries.map(({ path }) => path)).to.deep.equal([long, "plain", long, "link"]);
    expect(entries[0]).to.include({ uid: 3_000_000, gid: 0, mtime: 5_250_000_000n, content: "abc" });
    expect(entries[3]?.target).to.equal(long);
  });

  it("reads nothing of pax that it does not need, as the values of extended attributes, which are no text", async () => {
    const xattr = paxOf({ "SCHILY.xattr.security.capability": Buffer.from([1, 0xc0, 0xff]) });
    const [entry] = await read(tarOf(xattr, { name: "a", content: "1" }));
    expect(entry).to.include({ path: "a", content: "1" });
  });

  it("takes one extended header for an entry, and no more", async () => {
    const header = paxOf({ uid: "1" });
    expect(await failure(tarOf(header, { name: "a" }, header, { name: "b" }))).to.equal("read");
    expect(await failure(tarOf(header, header, { name: "a" }))).to.equal("ContentRefused");
    expect(await failure(tarOf(header, { name: "g", type: "g" }, header, { name: "a" }))).to.equal("ContentRefused");
  });

  it("leaves device nodes and FIFOs to who writes", async () => {
    const entries = await read(tarOf({ name: "c", type: "3" }, { name: "b", type: "4" }, { name: "p", type: "6" }));
    expect(entries.map(({ kind }) => kind)).to.deep.equal(["leftOut", "leftOut", "leftOut"]);
  });

  it("refuses what is damaged", async () => {
    const damaged = tarOf({ name: "a" });
    damaged.write("b", 0);
    expect(await failure(damaged)).to.equal("ContentRefused");
    expect(await failure(tarOf({ name: "a", content: "x".repeat(600) }).subarray(0, 1024))).to.equal("EndsEarly");
    expect(await failure(tarOf({ name: "x", type: "x", content: "99999 a=b\n" }))).to.equal("ContentRefused");
    expect(await failure(tarOf(paxOf({ size: "-1" }), { name: "a" }))).to.equal("ContentRefused");
    expect(await failure(tarOf({ name: "a", type: "Z" }))).to.equal("ContentRefused");
    expect(await failure(tarOf({ name: "x", type: "x", content: "a".repeat(1024 * 1024 + 1) }))).to.equal(
      "ContentRefused",
    );
  });

  const at = (offset: number, bytes: string | readonly number[]) => (header: Buffer) =>
    void Buffer.from(bytes as string, "latin1").copy(header, offset);
  const one = async (...entries: readonly RawTarEntry[]) => (await read(tarOf(...entries)))[0];

  it("ends with two blocks of zeros, whatever is behind them, and reads on to the last byte", async () => {
    const hidden = Buffer.concat([tarOf({ name: "first" }), tarOf({ name: "hidden" }), Buffer.from("rest")]);
    const bytes = new ByteStream(pieces(hidden, 700));
    const found: string[] = [];
    await readTar(bytes, async ({ path }) => void found.push(path));
    expect(found).to.deep.equal(["first"]);
    expect(await bytes.atMost(1)).to.have.length(0);
    expect(await read(entryOf({ name: "no end" }))).to.have.length(1);
    expect(await read(Buffer.alloc(512)), "half an end").to.deep.equal([]);
    const between = Buffer.concat([entryOf({ name: "a" }), Buffer.alloc(512), tarOf({ name: "b" })]);
    expect(await failure(between)).to.equal("ContentRefused");
  });

  it("takes a header of its own size, whatever was said of the entry that comes", async () => {
    const long = { name: "././@LongLink", type: "L", content: `${"n".repeat(600)}\0` };
    const entry = await one(paxOf({ size: "3" }), long, { name: "s", content: "abc" });
    expect(entry).to.include({ path: "n".repeat(600), content: "abc" });
  });

  it("lets the header itself count where a record of pax says nothing", async () => {
    expect(await one(paxOf({ path: "", uid: "", mtime: "" }), { name: "own", uid: 7 })).to.include({
      ...{ path: "own", uid: 7, mtime: 512_000_000_000n },
    });
    const twice = paxOf([
      ["path", "first"],
      ["path", ""],
    ]);
    expect(await one(twice, { name: "own" })).to.include({ path: "own" });
  });

  const times: readonly (readonly [string, bigint])[] = [
    ["-1000", -1_000_000_000_000n],
    ["-0.5", -500_000_000n],
    ["1.", 1_000_000_000n],
    ["1.1234567899", 1_123_456_789n],
    ["9223372036854775807", (2n ** 63n - 1n) * 1_000_000_000n],
  ];
  for (const [text, mtime] of times) {
    it(`takes the time ${text}`, async () => {
      expect(await one(paxOf({ mtime: text }), { name: "a" })).to.include({ mtime });
    });
  }

  it("takes numbers as old programs write them: of base 256, also below zero, after spaces, with something after their end", async () => {
    expect((await one({ name: "a", change: at(136, [0xff, ...Array(9).fill(0xff), 0xfc, 0x18]) }))?.mtime).to.equal(
      -1_000_000_000_000n,
    );
    expect(await one({ name: "a", change: at(108, [0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]) })).to.include({
      uid: 2 ** 31 - 1,
    });
    expect(await one({ name: "a", change: at(108, "  17 \0xx") })).to.include({ uid: 0o17 });
    expect(await one({ name: "a", change: at(108, "\0".repeat(8)) })).to.include({ uid: 0 });
  });

  it("refuses numbers that are out of range, which would be another's, or root's", async () => {
    const wrong: (readonly RawTarEntry[])[] = [
      ...["4294967295", "4294967301", "-1", "1".repeat(40), "1e3", "0x1"].map((uid) => [paxOf({ uid }), { name: "f" }]),
      [paxOf({ gid: "4294967295" }), { name: "f" }],
      [paxOf({ mtime: "1".repeat(400) }), { name: "f" }],
      [paxOf({ mtime: "9223372036854775808" }), { name: "f" }],
      [paxOf({ mtime: "soon" }), { name: "f" }],
      [paxOf({ size: `${2 ** 53}` }), { name: "f" }],
      [{ name: "f", change: at(108, Array(8).fill(0xff)) }],
      [{ name: "f", change: at(100, Array(8).fill(0xff)) }],
      [{ name: "f", change: at(124, [0x80, ...Array(11).fill(0xff)]) }],
      [{ name: "f", change: at(136, [0xbf, ...Array(11).fill(0xff)]) }],
      [{ name: "f", change: at(108, "12a4567\0") }],
    ];
    for (const entries of wrong)
      expect(await failure(tarOf(...entries)), JSON.stringify(entries)).to.equal("ContentRefused");
  });

  it("takes a directory of V7, which says so by a slash, and no data of what can have none", async () => {
    const entries = await read(
      tarOf(
        { name: "d/", type: "\0" },
        { name: "p", type: "6", change: at(124, "00000001000\0") },
        { name: "label", type: "V" },
        { name: "f" },
      ),
    );
    expect(entries.map(({ kind, path }) => [kind, path])).to.deep.equal([
      ...[
        ["directory", "d/"],
        ["leftOut", "p"],
        ["leftOut", "label"],
      ],
      ["file", "f"],
    ]);
  });

  it("takes the old sum of signed bytes", async () => {
    const signed = entryOf({ name: "café" });
    const sum = signed.subarray(0, 512).reduce((all, byte, index) => {
      const counts = index >= 148 && index < 156 ? 32 : byte;
      return all + (counts > 127 ? counts - 256 : counts);
    }, 0);
    signed.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    expect((await read(signed))[0]).to.include({ path: "café" });
  });

  it("takes the prefix of ustar, of star, and of what old Docker wrote with GNU's magic", async () => {
    const prefix = (magic: string, more = (_: Buffer) => {}) => ({
      name: "n",
      change: (header: Buffer) => {
        header.write(magic, 257, "latin1");
        header.write("pre/fix", 345);
        more(header);
      },
    });
    expect(await one(prefix("ustar\x0000"))).to.include({ path: "pre/fix/n" });
    const star = prefix("ustar\x0000", (header) => {
      header.write("00000000001 00000000001", 476);
      header.write("tar\0", 508);
    });
    expect(await one(star)).to.include({ path: "pre/fix/n" });
    expect(await one(prefix("ustar  \0"))).to.include({ path: "pre/fix/n" });
    expect(await one(prefix("ustar  \0", at(345, "00000000001\0")))).to.include({ path: "n" });
  });

  it("refuses a record of pax that is not as long as it says", async () => {
    for (const content of [
      "99 path=x\n",
      "8 path=x\n",
      "9 path=xx\n",
      " 9 path=x\n",
      "5 =x\n",
      "-9 path=x\n",
      "9\tpath=x\n",
    ]) {
      expect(await failure(tarOf({ name: "x", type: "x", content }, { name: "f" })), content).to.equal(
        "ContentRefused",
      );
    }
  });

  describe("of sparse files", () => {
    const file = "ab......cd..";
    const pieceMap = { "GNU.sparse.size": "12", "GNU.sparse.map": "0,2,8,2,12,0" };
    const pairs = (...numbers: readonly number[]) =>
      numbers.flatMap((number) => [...Buffer.from(`${number.toString(8).padStart(11, "0")} `)]);

    it("has the holes of GNU tar's own format, with and without more blocks of its map", async () => {
      const old = (header: Buffer) => {
        header.write("ustar  \0", 257, "latin1");
        Buffer.from(pairs(0, 2, 8, 2)).copy(header, 386);
        Buffer.from(pairs(12)).copy(header, 483);
      };
      expect(await one({ name: "s", type: "S", content: "abcd", change: old })).to.include({ content: file, holes: 8 });
      const more = Buffer.alloc(512);
      Buffer.from(pairs(8, 2)).copy(more);
      const long = entryOf({
        ...{ name: "s", type: "S", content: "abcd" },
        change: (header) => {
          old(header);
          header.fill(0, 410, 434);
          header[482] = 1;
        },
      });
      const archive = Buffer.concat([
        long.subarray(0, 512),
        more,
        long.subarray(512),
        tarOf({ name: "after", content: "x" }),
      ]);
      const [first, second] = await read(archive);
      expect(first).to.include({ content: file });
      expect(second).to.include({ path: "after", content: "x" });
    });

    it("has the holes of pax, in its three formats", async () => {
      const oldest = [
        ["GNU.sparse.size", "12"],
        ["GNU.sparse.numblocks", "2"],
        ...[
          ["GNU.sparse.offset", "0"],
          ["GNU.sparse.numbytes", "2"],
        ],
        ...[
          ["GNU.sparse.offset", "8"],
          ["GNU.sparse.numbytes", "2"],
        ],
      ] as [string, string][];
      const map = "2\n0\n2\n8\n2\n".padEnd(512, "\0");
      const named = { "GNU.sparse.name": "real" };
      const newest = { ...named, "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "12" };
      expect(await one(paxOf(oldest), { name: "real", content: "abcd" })).to.include({ content: file });
      for (const [records, content] of [
        [{ ...named, ...pieceMap }, "abcd"],
        [newest, `${map}abcd`],
      ] as const) {
        const [entry, after] = await read(
          tarOf(paxOf(records), { name: "GNUSparseFile.1/real", content }, { name: "after" }),
        );
        expect(entry).to.include({ path: "real", content: file, size: 12 });
        expect(after?.path).to.equal("after");
      }
    });

    it("refuses GNU tar's own format where the header is not GNU tar's", async () => {
      expect(await failure(tarOf({ name: "s", type: "S" }))).to.equal("ContentRefused");
    });

    const wrong: { readonly [why: string]: { readonly [key: string]: string } } = {
      "one in another": { ...pieceMap, "GNU.sparse.map": "0,4,2,2" },
      "behind its end": { ...pieceMap, "GNU.sparse.map": "9,4" },
      "half a pair": { ...pieceMap, "GNU.sparse.map": "0,2,8" },
      "no numbers": { ...pieceMap, "GNU.sparse.map": "0,x" },
      "fewer bytes than it has": { ...pieceMap, "GNU.sparse.map": "0,2" },
      "no size": { "GNU.sparse.map": "0,4" },
      "a format to come": { ...pieceMap, "GNU.sparse.major": "2", "GNU.sparse.minor": "0" },
    };
    for (const [why, records] of Object.entries(wrong)) {
      it(`refuses one with ${why}`, async () => {
        expect(await failure(tarOf(paxOf(records), { name: "s", content: "abcd" }))).to.equal("ContentRefused");
      });
    }
  });
});

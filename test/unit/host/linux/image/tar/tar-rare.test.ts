import { expect } from "chai";
import { readTar } from "../../../../../../src/host/linux/image/tar/tar.ts";
import { ByteStream } from "../../../../../../src/host/linux/syscall/byte-stream.ts";
import { at, failure, one, pieces, read } from "../../../../../lib/kernel/read-archive.ts";
import { entryOf, paxOf, type RawTarEntry, tarOf } from "../../../../../lib/servers/contract-registry.ts";

describe("readTar of what is rare", () => {
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
});

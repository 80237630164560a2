import { expect } from "chai";
import { failure, one, read } from "../../../../../lib/kernel/read-archive.ts";
import { entryOf, paxOf, tarOf } from "../../../../../lib/servers/contract-registry.ts";

describe("readTar of sparse files", () => {
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

import { expect } from "chai";
import { failure, read } from "../../../../../lib/kernel/read-archive.ts";
import { paxOf, tarOf } from "../../../../../lib/servers/contract-registry.ts";

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
});

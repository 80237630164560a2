import { expect } from "chai";
import { ByteStream } from "../../../../src/host/linux/byte-stream.ts";
import { readTar, type TarEntry } from "../../../../src/host/linux/image/tar.ts";
import { tarOf } from "../../../lib/contract-registry.ts";

/** In pieces of some bytes, as they come from a network. */
async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(archive: Buffer, length = 700): Promise<(TarEntry & { content: string })[]> {
  const found: (TarEntry & { content: string })[] = [];
  await readTar(new ByteStream(pieces(archive, length)), async (entry, each) => {
    let content = "";
    if (entry.path !== "skipped") await each((piece) => (content += piece.toString()));
    found.push({ ...entry, content });
  });
  return found;
}

/** A record of pax: its length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const length = [1, 2, 3, 4].map((digits) => rest + digits).find((all) => `${all}`.length + rest === all) ?? 0;
  return `${length} ${key}=${value}\n`;
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
      expect(entries[0]).to.include({ mode: 0o4755, uid: 12, gid: 12, mtime: 512, size: 1000 });
      expect(entries[3]?.target).to.equal("a");
    });
  }

  it("takes names, sizes and owners of pax, for one entry, and long names of GNU tar", async () => {
    const long = `${"d/".repeat(100)}é`;
    const pax = [record("path", long), record("uid", "3000000"), record("size", "3"), record("mtime", "5.25")].join("");
    const archive = tarOf(
      { name: "PaxHeaders/x", type: "x", content: pax },
      { name: "short", content: "abc" },
      { name: "plain", content: "" },
      { name: "././@LongLink", type: "L", content: `${long}\0` },
      { name: "cut", content: "1" },
      { name: "././@LongLink", type: "K", content: `${long}\0` },
      { name: "link", type: "2", target: "cut" },
    );
    const entries = await read(archive);
    expect(entries.map(({ path }) => path)).to.deep.equal([long, "plain", long, "link"]);
    expect(entries[0]).to.include({ uid: 3_000_000, gid: 0, mtime: 5, content: "abc" });
    expect(entries[3]?.target).to.equal(long);
  });

  it("reads nothing of pax that it does not need, as the values of extended attributes, which are no text", async () => {
    const rest = Buffer.concat([
      Buffer.from(" SCHILY.xattr.security.capability="),
      Buffer.from([1, 0xc0, 0xff]),
      Buffer.from("\n"),
    ]);
    const xattr = Buffer.concat([Buffer.from(`${rest.length + 2}`), rest]);
    const [entry] = await read(tarOf({ name: "x", type: "x", content: xattr }, { name: "a", content: "1" }));
    expect(entry).to.include({ path: "a", content: "1" });
  });

  it("takes one extended header for an entry, and no more", async () => {
    const header = { name: "x", type: "x", content: record("uid", "1") };
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
    expect(await failure(tarOf({ name: "x", type: "x", content: record("size", "-1") }, { name: "a" }))).to.equal(
      "ContentRefused",
    );
    expect(await failure(tarOf({ name: "a", type: "Z" }))).to.equal("ContentRefused");
    expect(await failure(tarOf({ name: "x", type: "x", content: "a".repeat(1024 * 1024 + 1) }))).to.equal(
      "ContentRefused",
    );
  });
});

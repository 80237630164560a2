import { execFileSync } from "node:child_process";
import { lstatSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { LayerWriter } from "../../../../../src/host/linux/image/layer-writer.ts";
import type { TarEntry } from "../../../../../src/host/linux/image/tar/tar.ts";
import { Descriptor } from "../../../../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../../../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../../../../src/host/linux/syscall/sandbox-calls.ts";

describe("LayerWriter", () => {
  let path: string;
  /** Bytes that directories were counted with. */
  let room: number;
  beforeEach(() => {
    room = 0;
    path = mkdtempSync(`${tmpdir()}/layer-writer-`);
  });
  afterEach(() => rmSync(path, { recursive: true }));

  /** Writes entries, of which an image may have so many. @returns the reason why not */
  async function write(most: number, ...entries: readonly Partial<TarEntry>[]): Promise<string | undefined> {
    using root = new Descriptor(openSync(path, "r"));
    const writer = new LayerWriter(loadLibc(), loadSandboxCalls(), root, (bytes) => (room += bytes), most);
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    const empty: TarEntry = { kind: "file", path: "", target: "", mode: 0o755, uid, gid, mtime: 0n, size: 0, holes: 0 };
    const bytes = async (take: (piece: Buffer, at: number) => void) => take(Buffer.from("new"), 0);
    try {
      await writer.layer(async () => {
        for (const entry of entries) await writer.write({ ...empty, ...entry }, bytes);
      });
      return undefined;
    } catch (error) {
      return (error as { reason?: string }).reason;
    }
  }

  it("counts the directories that paths imply", async () => {
    expect(await write(3, { path: "a/b/c" })).to.equal(undefined);
    expect(room).to.equal(2 * 4096);
    expect(await write(4, { path: "x/y/z" }, { path: "x/v/w" })).to.equal("ContentTooLarge");
    expect(readdirSync(`${path}/x`)).to.deep.equal(["y"]);
    expect(await write(1, { path: "x/y/again" }), "those that are there cost nothing").to.equal(undefined);
  });

  it("refuses a path, and a target of a hard link, of more than 256 names or 4,096 bytes", async () => {
    const deep = "d/".repeat(255);
    expect(await write(1000, { path: `${deep}a` }, { kind: "hardLink", path: "b", target: `${deep}a` })).to.equal(
      undefined,
    );
    expect(await write(1000, { path: `${deep}d/a` })).to.equal("ContentRefused");
    expect(await write(1000, { kind: "hardLink", path: "c", target: `${deep}d/a` })).to.equal("ContentRefused");
    expect(await write(1000, { path: `${"n".repeat(200)}/`.repeat(21) })).to.equal("ContentRefused");
  });

  it("spares what this layer has, and all that is above it, from its whiteouts", async () => {
    expect(await write(100, { path: "a/b/c" }, { path: ".wh.a" }, { path: "a/.wh.b" }, { path: "a/b/.wh.c" })).to.equal(
      undefined,
    );
    expect(readdirSync(`${path}/a/b`)).to.deep.equal(["c"]);
    expect(await write(100, { path: "a/b/.wh.c" })).to.equal(undefined);
    expect(readdirSync(`${path}/a/b`)).to.deep.equal([]);
  });

  it("takes away a tree that is deeper than files can be open, whatever its directories are called", async () => {
    const make =
      "let i=1200;const f=require('fs');while(i--){const d='..deep.'+i%2;f.mkdirSync(d);f.writeFileSync('f','');process.chdir(d)}";
    expect(await write(9, { path: "n/m/a" })).to.equal(undefined);
    execFileSync(process.execPath, ["-e", make], { cwd: `${path}/n/m` });
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    expect(await write(10_000, { path: ".wh.n" })).to.equal(undefined);
    expect(readdirSync(path)).to.deep.equal([]);
    expect(open(), "files that are open").to.equal(before);
  });

  const tree = () => {
    const found = execFileSync("find", [path, "-mindepth", "1", "-printf", "%P\n"], { encoding: "utf8" });
    return found.split("\n").filter(Boolean).sort();
  };
  const [directory, link, hardLink] = [{ kind: "directory" }, { kind: "link" }, { kind: "hardLink" }] as const;

  it("takes from layers beneath what a whiteout names, wherever it stands, and not what its own layer has", async () => {
    const lower = [{ path: "a/b/old" }, { path: "a/old" }, { path: "c/old" }, { path: "stays" }];
    const upper = [{ ...directory, path: "a/" }, { path: "a/b/new" }];
    for (const whiteouts of [
      [".wh.a", "c/.wh..wh..opq"],
      ["a/.wh..wh..opq", "c/.wh.old"],
      ["a/.wh.b", "a/.wh.old", "c/.wh.old"],
    ]) {
      const hiding = whiteouts.map((name) => ({ path: name }));
      for (const layer of [
        [...hiding, ...upper],
        [...upper, ...hiding],
        [...hiding, ...upper, ...hiding],
      ]) {
        expect(await write(100, ...lower)).to.equal(undefined);
        expect(await write(100, ...layer)).to.equal(undefined);
        expect(tree(), JSON.stringify(layer)).to.deep.equal(["a", "a/b", "a/b/new", "c", "stays"]);
      }
    }
  });

  it("takes a directory away whose opaque whiteout stands before its own", async () => {
    expect(await write(100, { path: "a/old" }, { path: "b/c/old" })).to.equal(undefined);
    const whiteouts = ["a/.wh..wh..opq", ".wh.a", "b/.wh..wh..opq", "b/c/.wh..wh..opq", ".wh.b"];
    expect(await write(100, ...whiteouts.map((name) => ({ path: name })))).to.equal(undefined);
    expect(tree()).to.deep.equal([]);
  });

  it("spares by a whiteout what its layer has by another path, through a link", async () => {
    expect(await write(100, { path: "usr/lib/old" }, { ...link, path: "lib", target: "usr/lib" })).to.equal(undefined);
    const upper = [{ path: "lib/new" }, { path: "usr/lib/.wh.new" }, { path: "usr/.wh..wh..opq" }];
    expect(await write(100, ...upper)).to.equal(undefined);
    expect(tree()).to.deep.equal(["lib", "usr", "usr/lib", "usr/lib/new"]);
  });

  it("makes nothing for a whiteout, also where a file or links in circles are on its way", async () => {
    expect(await write(100, { path: "file" }, { ...link, path: "circle", target: "circle" })).to.equal(undefined);
    const whiteouts = [".wh.none", "none/.wh.a", "none/.wh..wh..opq", "file/.wh.a", "circle/.wh.a"];
    expect(await write(100, ...whiteouts.map((name) => ({ path: name })))).to.equal(undefined);
    expect(tree()).to.deep.equal(["circle", "file"]);
    const test = [{ path: "test/test" }];
    for (const order of [
      [".wh.test", "test/.wh.test"],
      ["test/.wh.test", ".wh.test"],
    ]) {
      expect(await write(100, ...test)).to.equal(undefined);
      expect(await write(100, ...order.map((name) => ({ path: name })))).to.equal(undefined);
      expect(tree(), String(order)).to.deep.equal(["circle", "file"]);
    }
  });

  it("makes, in the root, what a link on the way leads to", async () => {
    const links = { run: "/run", up: "../../..//deep/./er/", real: "gone", there: "made/../other" };
    for (const [name, target] of Object.entries(links)) {
      expect(await write(100, { ...link, path: `var/${name}`, target })).to.equal(undefined);
      expect(await write(100, { path: `var/${name}/x/f` })).to.equal(undefined);
    }
    const files = tree().filter((name) => name.endsWith("/f"));
    expect(files).to.deep.equal(["deep/er/x/f", "run/x/f", "var/gone/x/f", "var/other/x/f"]);
    expect(
      await write(100, { path: "file" }, { ...link, path: "to-file", target: "file" }, { path: "to-file/x" }),
    ).to.equal("ContentRefused");
    const chain = Array.from({ length: 60 }, (_, at) => ({ ...link, path: `l${at}`, target: `l${at + 1}` }));
    expect(await write(100, ...chain, { path: "l30/f" }), "30 links").to.equal(undefined);
    expect(await write(100, { ...link, path: "l60", target: "none" }, { path: "l0/f" }), "60 links").to.equal(
      "ContentRefused",
    );
  });

  it("gives files, directories and links their times, whatever comes into a directory later", async () => {
    const mtime = -1_000_000_000_001n;
    const entries = [
      { ...directory, path: "d/", mtime },
      { path: "d/f", mtime },
      { ...link, path: "d/l", target: "f", mtime },
      { ...directory, path: "d/e/", mtime },
    ];
    expect(await write(100, ...entries)).to.equal(undefined);
    expect(await write(100, { path: "d/e/later" }, { path: "d/.wh.l" }, { path: "d/new/f" })).to.equal(undefined);
    const timeOf = (name: string) => lstatSync(`${path}/${name}`, { bigint: true }).mtimeNs;
    expect(["d", "d/f", "d/e"].map(timeOf)).to.deep.equal([mtime, mtime, mtime]);
    expect(await write(100, { ...link, path: "l", target: "f", mtime })).to.equal(undefined);
    expect(timeOf("l")).to.equal(mtime);
  });

  it("takes a hard link to itself, to what was left out, and to what only AUFS has", async () => {
    const plnk = ".wh..wh.plnk";
    const entries = [
      { path: "f" },
      { ...hardLink, path: "f", target: "./f" },
      { ...hardLink, path: "g", target: "f" },
      { ...hardLink, path: "g", target: "f" },
      { path: "dev/null", kind: "leftOut" as const },
      { ...hardLink, path: "dev/nil", target: "dev/null" },
      { ...hardLink, path: "dev/nought", target: "/dev/nil" },
      { path: ".wh..wh.aufs" },
      { ...directory, path: ".wh..wh.orph/" },
      { path: ".wh..wh.orph/x" },
      { ...directory, path: `${plnk}/` },
      { path: `${plnk}/12.34` },
      { ...hardLink, path: "h", target: `${plnk}/12.34` },
    ];
    expect(await write(100, ...entries)).to.equal(undefined);
    expect(tree()).to.deep.equal(["dev", "f", "g", "h"]);
    expect([lstatSync(`${path}/f`).nlink, lstatSync(`${path}/h`).nlink]).to.deep.equal([2, 1]);
    expect(await write(100, { ...hardLink, path: "i", target: "none" })).to.equal("ContentRefused");
  });

  it("shows nothing of what a layer beneath has where a device node takes its place", async () => {
    expect(await write(100, { path: "dev/null" })).to.equal(undefined);
    expect(await write(100, { path: "dev/null", kind: "leftOut" })).to.equal(undefined);
    expect(tree()).to.deep.equal(["dev"]);
  });

  it("writes the holes of a file as holes", async () => {
    expect(await write(100, { path: "sparse", size: 2 ** 30, holes: 2 ** 30 - 3 })).to.equal(undefined);
    const { size, blocks } = lstatSync(`${path}/sparse`);
    expect([size, blocks <= 16]).to.deep.equal([2 ** 30, true]);
    expect(await write(100, { path: "huge", size: Number.MAX_SAFE_INTEGER, holes: 1 })).to.be.oneOf([
      undefined,
      "ContentRefused",
    ]);
  });
});

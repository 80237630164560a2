import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { Descriptor } from "../../../../src/host/linux/descriptor.ts";
import { LayerWriter } from "../../../../src/host/linux/image/layer-writer.ts";
import type { TarEntry } from "../../../../src/host/linux/image/tar.ts";
import { loadLibc } from "../../../../src/host/linux/libc.ts";
import { loadSandboxCalls } from "../../../../src/host/linux/sandbox-calls.ts";

describe("LayerWriter", () => {
  let path: string;
  beforeEach(() => (path = mkdtempSync(`${tmpdir()}/layer-writer-`)));
  afterEach(() => rmSync(path, { recursive: true }));

  /** Writes entries, of which an image may have so many. @returns the reason why not */
  async function write(most: number, ...entries: readonly Partial<TarEntry>[]): Promise<string | undefined> {
    using root = new Descriptor(openSync(path, "r"));
    const writer = new LayerWriter(loadLibc(), loadSandboxCalls(), root, most);
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    const empty: TarEntry = { kind: "file", path: "", target: "", mode: 0o755, uid, gid, mtime: 0, size: 0 };
    try {
      for (const entry of entries) await writer.write({ ...empty, ...entry }, async () => {});
      return undefined;
    } catch (error) {
      return (error as { reason?: string }).reason;
    }
  }

  it("counts the directories that paths imply", async () => {
    expect(await write(3, { path: "a/b/c" })).to.equal(undefined);
    expect(await write(4, { path: "x/y/z" }, { path: "x/v/w" })).to.equal("ContentTooLarge");
    expect(readdirSync(`${path}/x`)).to.deep.equal(["y"]);
    expect(await write(1, { path: "x/y/again" }), "two names above it").to.equal("ContentTooLarge");
  });

  it("counts the names of a directory that links give it", async () => {
    const link = { kind: "link", path: "up", target: "." } as const;
    expect(await write(9, link, { path: `${"up/".repeat(8)}a` })).to.equal(undefined);
    expect(await write(9, link, { path: `${"up/".repeat(9)}a` })).to.equal("ContentTooLarge");
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
    using before = new Descriptor(openSync("/", "r"));
    expect(await write(10_000, { path: ".wh.n" })).to.equal(undefined);
    expect(readdirSync(path)).to.deep.equal([]);
    using after = new Descriptor(openSync("/", "r"));
    expect(after.fd - before.fd, "files that were left open").to.equal(1);
  });
});

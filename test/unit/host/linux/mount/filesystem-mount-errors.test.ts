import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { errorsOption } from "../../../../../src/host/linux/mount/filesystem-mount.ts";

describe("errorsOption", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nvo-errors-option-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const of = (fsType: string, options: readonly string[] = [], superblock?: number) => {
    const source = `${directory}/disk`;
    const head = Buffer.alloc(4096);
    if (superblock !== undefined) head.writeUInt16LE(superblock, 1024 + 60);
    writeFileSync(source, superblock === undefined ? "" : head);
    return errorsOption({ fsType, source, options, attributes: {} as never, target: { prefix: "/", path: "/" } });
  };

  it("goes on where the superblock says so, and else lets nobody write", () => {
    expect(of("ext4", [], 1)).to.deep.equal(["errors=continue"]);
    for (const other of [0, 2, 3, 4, undefined]) expect(of("ext3", [], other)).to.deep.equal(["errors=remount-ro"]);
  });

  it("is not said where the volume says it, nor of another file system", () => {
    expect(of("ext2", ["errors=panic"], 3)).to.deep.equal([]);
    expect(of("xfs", [], 3)).to.deep.equal([]);
  });
});

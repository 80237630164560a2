import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { isArrayKeeper } from "../../../../../src/host/linux/device/device-users.ts";

/** A tree that is made, not /proc. */
describe("the keeper of RAID arrays, which may write to their members", () => {
  let proc: string;

  beforeEach(() => {
    proc = mkdtempSync(`${tmpdir()}/nvo-keeper-`);
    for (const [pid, namespace] of [
      [1, 1],
      [7, 1],
      [8, 2],
    ] as const) {
      mkdirSync(`${proc}/${pid}/ns`, { recursive: true });
      symlinkSync(`mnt:[${namespace}]`, `${proc}/${pid}/ns/mnt`);
    }
  });
  afterEach(() => rmSync(proc, { recursive: true }));

  const isKeeper = (pid: number, command = "mdmon") => isArrayKeeper({ pid, command }, proc);

  it("is mdmon in the mount namespace of process 1", () => {
    expect([isKeeper(7), isKeeper(7, "qemu")]).to.deep.equal([true, false]);
  });

  it("is nothing in a container, where anything may be called so, and nothing that has ended", () => {
    expect([isKeeper(8), isKeeper(9)]).to.deep.equal([false, false]);
  });

  it("is nothing where process 1 is hidden: none can be told from a container's", () => {
    rmSync(`${proc}/1`, { recursive: true });
    expect([isKeeper(7), isKeeper(9)]).to.deep.equal([false, false]);
  });
});

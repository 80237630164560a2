import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { otherRoots } from "../../../../../src/host/linux/evidence/other-roots.ts";

/** A tree that is made, not /proc. */
describe("root directories in other mount namespaces", () => {
  let proc: string;

  before(() => {
    proc = mkdtempSync(`${tmpdir()}/nvo-roots-`);
    const put = (pid: string, namespace: number, root: string, fsType: string) => {
      mkdirSync(`${proc}/${pid}/ns`, { recursive: true });
      symlinkSync(`mnt:[${namespace}]`, `${proc}/${pid}/ns/mnt`);
      symlinkSync(root, `${proc}/${pid}/root`);
      const lines = [`20 1 0:20 / / rw - ${fsType} a rw`, "21 20 0:21 / /dev rw - tmpfs b rw"];
      writeFileSync(`${proc}/${pid}/mountinfo`, `${lines.join("\n")}\n`);
    };
    put("self", 1, "/", "overlay");
    put("1", 1, "/", "overlay");
    put("5", 2, "/", "overlay");
    put("6", 2, "/", "overlay");
    put("7", 2, "/srv/chroot", "ext4");
    put("8", 3, "/", "fuse.rootfs");
    mkdirSync(`${proc}/9`); // it has just ended, or may not be looked at
    mkdirSync(`${proc}/bus`);
  });
  after(() => rmSync(proc, { recursive: true }));

  it("are found once each, but for our own namespace, what may hang, and what cannot be seen", () => {
    const found = [...otherRoots(proc)];
    expect(found.map(({ root }) => root)).to.deep.equal([`${proc}/5/root`, `${proc}/7/root`]);
    expect(found.map(({ pid }) => pid)).to.deep.equal([5, 7]);
    expect(found[0]?.mounts.map(({ point }) => point)).to.deep.equal([`${proc}/5/root/`, `${proc}/5/root/dev`]);
  });
});

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { findProgram, notOnArm64, onlyInFullImage } from "../../../../../src/host/linux/child/find-program.ts";

describe("findProgram", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "nodevolume-programs-"));
    writeFileSync(join(folder, "mount.cifs"), "");
    chmodSync(join(folder, "mount.cifs"), 0o755);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is the path in the first folder that has it", () => {
    expect(findProgram("mount.cifs", [`${folder}/none`, folder])).to.equal(`${folder}/mount.cifs`);
  });

  for (const name of onlyInFullImage)
    it(`names the image that has ${name}, where it is missing`, () => {
      const why = `${name} is not installed where the agent runs: the image node-volume-operator-agent has it, and node-volume-operator-agent-minimal does not`;
      expect(() => findProgram(name, [`${folder}/none`], "x64"))
        .to.throw(why)
        .with.property("reason", "ToolMissing");
    });

  it("says what to do without a program that no image for arm64 has", () => {
    const onArm64 = (name: string) => () => findProgram(name, [], "arm64");
    const without =
      "ceph-fuse is not installed where the agent runs: Debian has none for arm64, so set client: Kernel in the source";
    expect([...notOnArm64.keys()]).to.deep.equal(["ceph-fuse"]);
    expect(onArm64("ceph-fuse")).to.throw(without).with.property("reason", "ToolMissing");
    expect(onArm64("rbd-nbd")).to.throw("the image node-volume-operator-agent has it");
  });

  it("names no image for a program that all of the agent's have", () => {
    expect(() => findProgram("mkfs.xfs", [])).to.throw(/^mkfs\.xfs is not installed where the agent runs$/);
  });
});

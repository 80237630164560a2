import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { findProgram, onlyInFullImage } from "../../../../../src/host/linux/child/find-program.ts";

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
      expect(() => findProgram(name, [`${folder}/none`]))
        .to.throw(why)
        .with.property("reason", "ToolMissing");
    });

  it("names no image for a program that all of the agent's have", () => {
    expect(() => findProgram("mkfs.xfs", [])).to.throw(/^mkfs\.xfs is not installed where the agent runs$/);
  });
});

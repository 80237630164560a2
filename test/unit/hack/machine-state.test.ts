import { expect } from "chai";
import { changesOf, machineState } from "../../../hack/lib/lanes/machine-state.ts";

describe("the state of the machine", () => {
  it("has packages, mounts, kernel settings and what else a run must leave as it is", () => {
    const state = machineState();
    const kinds = ["package", "mount", "loop device", "kernel setting", "kernel module", "process"];
    expect([...state.keys()]).to.deep.equal(kinds);
    expect(state.get("mount")?.size).to.be.greaterThan(0);
    expect([...(state.get("kernel setting") ?? [])].join("\n")).to.include("vm/overcommit_memory = ");
  });

  it("is compared entry by entry: what came, and what went", () => {
    const before = new Map([["package", new Set(["udev 1", "samba 1"])]]);
    const after = new Map([["package", new Set(["udev 2", "samba 1"])]]);
    expect(changesOf(before, before)).to.deep.equal([]);
    const loops = (...names: readonly string[]) => new Map([["loop device", new Set(names)]]);
    expect(changesOf(loops("loop0"), loops("loop1"))).to.deep.equal(["loop device came: loop1"]);
    expect(changesOf(before, after)).to.deep.equal(["package came: udev 2", "package went: udev 1"]);
  });
});

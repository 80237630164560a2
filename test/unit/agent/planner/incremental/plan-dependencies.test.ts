import { expect } from "chai";
import { asVolumeName } from "../../../../../src/agent/model/identities.ts";
import type { StuckOperation } from "../../../../../src/agent/model/stuck-operation.ts";
import { changedStuck } from "../../../../../src/agent/planner/incremental/plan-dependencies.ts";

const server = { fsType: "nfs", source: "far:/export", point: "/far" };

describe("changedStuck", () => {
  it("names a child of which the mount table has to say what it waits for, at each look", () => {
    const known: StuckOperation = { pid: 7, abandoned: false, waitsFor: server };
    const unknown: StuckOperation = { pid: 8, abandoned: true };
    const look = () =>
      new Map([[asVolumeName("known"), { ...known }] as const, [asVolumeName("unknown"), { ...unknown }] as const]);
    expect([...changedStuck(look(), look())]).to.deep.equal(["unknown"]);
  });

  it("names what has begun to hang, and what has ended", () => {
    const one = new Map([[asVolumeName("a"), { driver: "disk.example", method: "NodeStageVolume" }]]);
    expect([...changedStuck(undefined, one)]).to.deep.equal(["a"]);
    expect([...changedStuck(one, new Map())]).to.deep.equal(["a"]);
    expect([...changedStuck(one, new Map(one))]).to.deep.equal([]);
  });
});

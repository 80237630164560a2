import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  prefix,
  record,
  staged,
  stageRecord,
  targetRecord,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const path = `${prefix}/a`;

function next(world: World): Operation | undefined {
  return planned(world).operation;
}

describe("plan of a suspended volume", () => {
  it("leaves mounted what has to be replaced for its options: it could not be mounted again", () => {
    const stage = stageRecord({ options: ["mode=0777", "size=1"] });
    const world = { intents: [wanted({ suspend: true })], records: [record({ stage })], mounts: [staged, mounted] };
    expect(next({ ...world, intents: [wanted()] }), "not suspended").to.deep.include({ kind: "unpublish", path });
    expect(next(world)).to.equal(undefined);
    expect(planned(world).pending, "and says what it would do").to.deep.equal([`unmount ${path}`]);
  });

  it("leaves the old path of a mount whose path changed: the new one is not mounted yet", () => {
    for (const to of [`${prefix}/new`, `${prefix}/a/beneath`]) {
      const mounts = [{ name: "set.m0", path: to }];
      const world = { records: [record()], mounts: [staged, mounted] };
      expect(next({ ...world, intents: [wanted({ mounts })] }), "not suspended").not.to.equal(undefined);
      expect(next({ ...world, intents: [wanted({ mounts, suspend: true })] }), to).to.equal(undefined);
    }
  });

  it("lets a consumer go that left, while another has to be replaced", () => {
    const stage = stageRecord({ options: ["mode=0777", "size=1"] });
    const left = targetRecord({ path: asMountPath(`${prefix}/left`), name: "set.left", mountID: 30 });
    const targets = [targetRecord(), left];
    const mounts = [staged, mounted, entry({ id: 30, point: left.path })];
    const world = { intents: [wanted({ suspend: true })], records: [record({ stage, targets })], mounts };
    expect(next(world)).to.deep.include({ kind: "unpublish", path: left.path });
  });
});

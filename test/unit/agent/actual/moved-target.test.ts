import { expect } from "chai";
import { movedMount } from "../../../../src/agent/actual/build-actual-state.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { prefix, record, targetRecord } from "../../../lib/builders/plan-world.ts";

describe("a mount whose path was renamed", () => {
  const target = targetRecord({ mountID: 20, peerGroup: 7 });
  const moved = (point: string, shared: number) =>
    movedMount(new MountTable([entry({ id: 20, point, shared })]), target, record({ targets: [target] }));

  it("is found by id, peer group and what it shows", () => {
    expect(moved(`${prefix}/renamed/a`, 7)?.id).to.equal(20);
  });

  it("is not another mount of the volume that has its id in the namespace of a later run", () => {
    expect(moved(`/host${prefix}/b`, 8)).to.equal(undefined);
  });

  it("is not another mount that has got its id since, nor one that shows something else", () => {
    const of = (more: object, known: object = {}) => {
      const ours = { ...target, ...known };
      const table = new MountTable([entry({ id: 20, point: `${prefix}/renamed/a`, shared: 7, ...more })]);
      return movedMount(table, ours, record({ targets: [ours] }))?.id;
    };
    expect(of({ uniqueID: 5 }, { uniqueID: 5 })).to.equal(20);
    expect(of({ uniqueID: 6 }, { uniqueID: 5 })).to.equal(undefined);
    expect(of({ root: "/other" })).to.equal(undefined);
  });
});

import { expect } from "chai";
import { movedMount } from "../../../src/agent/moved-target.ts";
import { MountTable } from "../../../src/host/mount-table.ts";
import { entry } from "../../lib/mount-entries.ts";
import { prefix, record, targetRecord } from "../../lib/plan-world.ts";

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
});

import { expect } from "chai";
import { isOwnMount, movedMount } from "../../../../src/agent/actual/build-actual-state.ts";
import { asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import { exactly } from "../../../../src/agent/model/operation.ts";
import { afterReboot } from "../../../../src/agent/model/volume-record.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, record, staged, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

describe("a mount that got the id of another", () => {
  const path = asMountPath(`${prefix}/a`);
  /** Of the volume's file system, but not what was bound: only its id speaks for it. */
  const mount = entry({ id: 20, uniqueID: 501, point: path, root: "/renamed" });

  it("isOwnMount goes by the id that is never used again, where both sides know one", () => {
    expect(isOwnMount(mount, targetRecord({ mountID: 20, uniqueID: 501 }))).to.equal(true);
    expect(isOwnMount(mount, targetRecord({ mountID: 20, uniqueID: 400 }))).to.equal(false);
    expect(isOwnMount(mount, targetRecord({ mountID: 19, uniqueID: 501 }))).to.equal(true);
  });

  it("isOwnMount goes by the other id where the record or the kernel has no such one", () => {
    const { uniqueID: _unique, ...old } = mount;
    expect(isOwnMount(mount, targetRecord({ mountID: 20 }))).to.equal(true);
    expect(isOwnMount(old, targetRecord({ mountID: 20, uniqueID: 400 }))).to.equal(true);
    expect(isOwnMount(old, targetRecord({ mountID: 19, uniqueID: 501 }))).to.equal(false);
  });

  it("isOwnMount still knows what shows the same, in another mount namespace, where all ids are others", () => {
    const copy = entry({ id: 33, uniqueID: 900, point: path });
    expect(isOwnMount(copy, targetRecord({ mountID: 20, uniqueID: 501 }))).to.equal(true);
  });

  it("movedMount does not take it for ours", () => {
    const target = targetRecord({ mountID: 20, uniqueID: 400, peerGroup: 7 });
    const elsewhere = entry({ id: 20, uniqueID: 501, point: `${prefix}/b`, shared: 7 });
    const found = (given: typeof target) =>
      movedMount(new MountTable([elsewhere]), given, record({ targets: [given] }))?.uniqueID;
    expect(found(target)).to.equal(undefined);
    expect(found({ ...target, uniqueID: 501 })).to.equal(501);
  });

  it("plan() names the mount to be unmounted by both ids", () => {
    const mounts = [staged, entry({ id: 20, uniqueID: 501, point: path })];
    const gone = wanted({ deleting: true, generation: 2 });
    const { operation } = planned({ intents: [gone], records: [record()], mounts });
    expect(operation).to.include({ kind: "unpublish", mountID: 20, uniqueID: 501 });
  });

  it("exactly() adds nothing where no mount is named, or its id is not known", () => {
    const table = new MountTable([entry({ id: 20, point: path })]);
    expect(exactly({ volume: asVolumeName("v"), kind: "stage" }, table)).to.deep.equal({ volume: "v", kind: "stage" });
    const operation = { volume: asVolumeName("v"), kind: "note", path, mountID: 20 } as const;
    expect(exactly(operation, table)).to.deep.equal(operation);
    expect(
      exactly({ volume: asVolumeName("v"), kind: "publish", path, replaces: 20 }, new MountTable([mount])),
    ).to.include({
      uniqueID: 501,
    });
  });

  it("afterReboot() forgets both ids", () => {
    const [target] = afterReboot(record({ targets: [targetRecord({ mountID: 20, uniqueID: 501 })] })).targets;
    expect(target).to.not.have.any.keys("mountID", "uniqueID", "peerGroup");
  });
});

import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import { OwnershipChanges } from "../../../../src/agent/executor/fsgroup-progress.ts";
import type { Desired } from "../../../../src/agent/model/desired.ts";
import { asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const name = asVolumeName("node.volume-1");

describe("OwnershipChanges", () => {
  it("tells of files that are being given for long, as long as they are, and of nothing when they were", async () => {
    const system = virtualSystem();
    let told = 0;
    const changes = new OwnershipChanges(system.timers, () => told++);
    const change = changes.begin(asVolumeName("v"), { path: asMountPath("/mnt/a"), fsGroup: 2000 });
    change.reached(7);
    await system.advance(29_000);
    expect([...changes.told]).to.deep.equal([]);
    await system.advance(2_000);
    expect([...changes.told]).to.deep.equal([["v", { path: "/mnt/a", fsGroup: 2000, entries: 7 }]]);
    change.ended();
    expect([...changes.told]).to.deep.equal([]);
    await system.advance(600_000);
    expect([[...changes.told], told, system.pendingTimers]).to.deep.equal([[], 1, 0]);
  });
});

describe("OwnershipChanges.endUnwanted", () => {
  const volume = (change: object = {}): Desired => {
    const intent = desiredVolume(wanted({ name, mounts: [{ path: "/mnt/a" }] }), name);
    return { ...intent, mounts: [{ path: "/mnt/a", fsGroup: 2000 }], ...change } as unknown as Desired;
  };
  /** Whether a change of /mnt/a to group 2000 is ended when the volume's intent is this one. */
  const ended = (intent: Desired | undefined): boolean => {
    const changes = new OwnershipChanges(virtualSystem().timers, () => {});
    const { unwanted } = changes.begin(name, { path: asMountPath("/mnt/a"), fsGroup: 2000 });
    changes.endUnwanted(new Map(intent && [[name, intent]]));
    return unwanted.aborted;
  };

  it("ends what no mount asks for any more", () => {
    expect(ended(volume())).to.equal(false);
    expect(ended(undefined), "no intent").to.equal(true);
    expect(ended(volume({ deleting: true })), "deleting").to.equal(true);
    expect(ended(volume({ mounts: [] })), "the mount has left").to.equal(true);
    expect(ended(volume({ mounts: [{ path: "/mnt/a", fsGroup: 2001 }] })), "another group").to.equal(true);
    expect(ended(volume({ mounts: [{ path: "/mnt/b", fsGroup: 2000 }] })), "another path").to.equal(true);
  });

  it("leaves what is not understood as it is", () => {
    const invalid = { name, uid: "u", generation: 2, deleting: false, problem: { reason: "Invalid", message: "" } };
    expect(ended(invalid as unknown as Desired)).to.equal(false);
  });

  it("has forgotten what has ended by itself", () => {
    const changes = new OwnershipChanges(virtualSystem().timers, () => {});
    const change = changes.begin(name, { path: asMountPath("/mnt/a"), fsGroup: 2000 });
    change.ended();
    changes.endUnwanted(new Map());
    expect(change.unwanted.aborted).to.equal(false);
  });
});

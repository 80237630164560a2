import { expect } from "chai";
import { OwnershipChanges } from "../../../src/agent/ownership-changes.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

describe("OwnershipChanges", () => {
  it("tells of files that are being given for long, as long as they are, and of nothing when they were", async () => {
    const system = virtualSystem();
    let told = 0;
    const changes = new OwnershipChanges(system.timers, () => told++);
    const change = changes.begin("v", { path: "/mnt/a", fsGroup: 2000 });
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

import { expect } from "chai";
import { connectWaits } from "../../../../src/controller/scheduling-gates/connect-waits.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { setEntry } from "../objects.ts";
import { pod } from "../pods/pod-objects.ts";

describe("connectWaits", () => {
  it("looks at gated pods again with what they may wait for: a few soon, many at most one a millisecond", async () => {
    const system = virtualSystem();
    const { clock, log } = system;
    const store = () => createObjectStore<never>({ clock, log });
    const [sets, pods] = [store(), store()];
    const stores = { sets, pods, nodes: store(), intents: store(), namespaces: store() };
    const watch = () => ({ store: store() }) as never;
    const storage = { claims: watch(), persistentVolumes: watch(), storageClasses: watch(), need() {} };
    const looks: number[] = [];
    const queue = { add: () => void looks.push(clock.monotonic()), addAfter() {} };
    const waits = connectWaits(system, stores, storage, queue, () => {});
    const gated = (name: string) =>
      pod(`team/${name}`, { node: "", more: { schedulingGates: [{ name: "nodevolume.dev/volumes" }] } }) as never;
    pods.upsert(gated("p"));
    expect(looks.splice(0), "as it is new").to.deep.equal([0]);
    for (const name of ["a", "b", "c"]) sets.upsert(setEntry(name) as never);
    expect(system.pendingTimers, "once for all changes").to.equal(1);
    await system.advance(1_000);
    expect(looks.splice(0)).to.deep.equal([100]);
    for (let i = 1; i < 5_000; i += 1) pods.upsert(gated(`p${i}`));
    looks.length = 0;
    for (const name of ["d", "e"]) sets.upsert(setEntry(name) as never);
    await system.advance(10_000);
    expect(looks.length).to.equal(5_000);
    expect(new Set(looks)).to.deep.equal(new Set([6_000]));
    sets.upsert(setEntry("f") as never);
    waits.stop();
    expect(system.pendingTimers).to.equal(0);
  });
});

import { expect } from "chai";
import { connectWaits } from "../../../../src/controller/waiting-pods/connect-waits.ts";
import { createObjectStore } from "../../../../src/kube/object-store.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { setEntry } from "../objects.ts";
import { pod } from "../populate/pod-objects.ts";

describe("connectWaits", () => {
  it("looks at gated pods again with what they may wait for: a few soon, many at most one a millisecond", () => {
    const { clock, log } = virtualSystem();
    const store = () => createObjectStore<never>({ clock, log });
    const [sets, pods] = [store(), store()];
    const stores = { sets, pods, nodes: store(), intents: store(), namespaces: store() };
    const watch = () => ({ store: store() }) as never;
    const storage = { claims: watch(), persistentVolumes: watch(), storageClasses: watch(), need() {} };
    const delays: number[] = [];
    const queue = { add() {}, addAfter: (_: string, ms: number) => void delays.push(ms) };
    const waits = connectWaits(stores, storage, queue, () => {});
    const gated = (name: string) =>
      pod(`team/${name}`, { node: "", more: { schedulingGates: [{ name: "nodevolume.dev/volumes" }] } }) as never;
    pods.upsert(gated("p"));
    sets.upsert(setEntry("a") as never);
    expect(delays.splice(0)).to.deep.equal([100]);
    for (let i = 1; i < 5_000; i += 1) pods.upsert(gated(`p${i}`));
    sets.upsert(setEntry("b") as never);
    expect(delays.length).to.equal(5_000);
    expect(Math.min(...delays)).to.equal(5_000);
    waits.stop();
  });
});

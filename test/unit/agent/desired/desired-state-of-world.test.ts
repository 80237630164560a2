import { expect } from "chai";
import { DesiredStateOfWorld } from "../../../../src/agent/desired/desired-state-of-world.ts";
import { type IntentEntry, understand } from "../../../../src/agent/desired/intents.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

describe("DesiredStateOfWorld", () => {
  const entryOf = (name: string, generation = 1, resourceVersion = "1"): IntentEntry => {
    const object = wanted({ name, generation });
    const entry = understand({ ...object, metadata: { ...object.metadata, resourceVersion } });
    return entry ?? expect.fail("not understood");
  };

  it("has a volume as its intent came to be, and the very same one after another status", () => {
    const { clock, log } = virtualSystem();
    const store = createObjectStore<IntentEntry>({ clock, log });
    const world = new DesiredStateOfWorld({ store, follow: () => {}, onChange: () => {} });
    const stop = world.start();
    store.upsert(entryOf("a"));
    store.upsert(entryOf("b"));
    const first = world.volumes.get(asVolumeName("b"));
    store.upsert(entryOf("b", 2, "2"));
    const second = world.volumes.get(asVolumeName("b"));
    expect([first?.generation, second?.generation]).to.deep.equal([1, 2]);
    const before = store.get("b") ?? expect.fail("no b");
    store.upsert({ ...before, metadata: { ...before.metadata, resourceVersion: "3" } });
    expect(world.volumes.get(asVolumeName("b")), "another status").to.equal(second);
    store.delete(entryOf("a", 1, "4"));
    expect([...world.volumes.keys()]).to.deep.equal(["b"]);
    stop();
  });
});

import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/meta.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { replaceAll, virtualSystem } from "../virtual-system.ts";

describe("createObjectStore", () => {
  const object = (name: string, resourceVersion: string, uid = `uid-${name}`): KubeObject => ({
    metadata: { name, uid, resourceVersion },
  });

  function story() {
    const system = virtualSystem();
    const store = createObjectStore<KubeObject>(system);
    const told: string[] = [];
    const cancel = store.subscribe({
      onAdd: (o) => told.push(`add ${o.metadata.name}@${o.metadata.resourceVersion}`),
      onUpdate: (a, b) =>
        told.push(`update ${b.metadata.name}@${a.metadata.resourceVersion}→${b.metadata.resourceVersion}`),
      onDelete: (o, lastKnown) =>
        told.push(`delete ${o.metadata.name}@${o.metadata.resourceVersion}${lastKnown ? " lastKnown" : ""}`),
      onState: (s) => told.push(`synced=${s.synced} connected=${s.connected}`),
    });
    const take = () => told.splice(0);
    return { system, store, take, cancel };
  }

  it("tells additions, updates and deletions, and forgets nothing in between", () => {
    const { store, take } = story();
    store.upsert(object("a", "1"));
    store.upsert(object("a", "2"));
    store.delete(object("a", "3"));
    expect(take()).to.deep.equal(["add a@1", "update a@1→2", "delete a@3"]);
    expect(store.size).to.equal(0);
  });

  it("hands out what it has in the place of the same once more, and never what is another", () => {
    const { store } = story();
    const first = object("a", "10");
    store.upsert(first);
    expect(store.kept(object("a", "10"))).to.equal(first);
    // As after a restore of etcd: the same version, and not what it was.
    const labelled = { metadata: { ...first.metadata, labels: { of: "another history" } } };
    for (const other of [object("a", "11"), object("a", "10", "another"), object("b", "10"), labelled]) {
      expect(store.kept(other)).to.equal(other);
    }
  });

  it("never goes back to an older version", () => {
    const { store, take } = story();
    store.upsert(object("a", "10"));
    store.upsert(object("a", "9"));
    store.delete(object("a", "8"));
    expect(store.get("a")?.metadata.resourceVersion).to.equal("10");
    expect(take()).to.deep.equal(["add a@10"]);
  });

  it("tells a re-created object as a deletion and an addition", () => {
    const { store, take } = story();
    store.upsert(object("a", "1", "u1"));
    store.upsert(object("a", "2", "u2"));
    expect(take()).to.deep.equal(["add a@1", "delete a@1 lastKnown", "add a@2"]);
  });

  it("replaceAll delivers what was missed, deletions marked as lastKnown", () => {
    const { store, take } = story();
    store.upsert(object("a", "1"));
    store.upsert(object("b", "2"));
    replaceAll(store, [object("b", "4"), object("c", "3")], "5");
    expect(take()).to.deep.equal([
      "add a@1",
      "add b@2",
      "update b@2→4",
      "add c@3",
      "delete a@1 lastKnown",
      "synced=true connected=false",
    ]);
  });

  it("replaceAll keeps what is newer than the list", () => {
    const { store } = story();
    store.upsertIfNewer(object("mine", "9"));
    store.upsertIfNewer(object("b", "8"));
    replaceAll(store, [object("b", "4")], "5");
    expect([store.get("mine")?.metadata.resourceVersion, store.get("b")?.metadata.resourceVersion]).to.deep.equal([
      "9",
      "8",
    ]);
  });

  it("replaceAll: a list older than what was seen is of another history, and everything is taken from it", () => {
    const { system, store, take } = story();
    replaceAll(store, [object("a", "10"), object("b", "20"), object("c", "30", "u1")], "30");
    store.upsertIfNewer(object("mine", "31"));
    take();
    replaceAll(store, [object("a", "10"), object("b", "15"), object("c", "16", "u2")], "25");
    expect(take()).to.deep.equal([
      "update a@10→10",
      "update b@20→15",
      "delete c@30 lastKnown",
      "add c@16",
      "delete mine@31 lastKnown",
    ]);
    expect(system.lines.map((l) => l.level)).to.deep.equal(["error"]);
    store.upsert(object("b", "26"));
    expect(store.upsertIfNewer(object("d", "27"))).to.equal(true);
    expect(take()).to.deep.equal(["update b@15→26", "add d@27"]);
  });

  it("replaceAll: an object older than before in a list that is not gives another history away, too", () => {
    const { store } = story();
    replaceAll(store, [object("a", "10"), object("b", "20")], "20");
    replaceAll(store, [object("b", "15")], "40");
    expect([...store.list()].map(({ metadata }) => metadata.resourceVersion)).to.deep.equal(["15"]);
  });

  it("upsertIfNewer takes the answer to a write in before the watch shows it", () => {
    const { store, take } = story();
    replaceAll(store, [object("a", "1")], "1");
    take();
    expect(store.upsertIfNewer(object("a", "2"))).to.equal(true);
    store.upsert(object("a", "2"));
    expect(take()).to.deep.equal(["update a@1→2"]);
  });

  it("upsertIfNewer does not bring back what the watch has passed", () => {
    const { store } = story();
    store.upsert(object("a", "1"));
    store.upsert(object("a", "2"));
    store.delete(object("a", "3"));
    expect(store.upsertIfNewer(object("a", "2"))).to.equal(false);
    expect(store.get("a")).to.equal(undefined);
  });

  it("upsertIfNewer: a bookmark is as good as an event", () => {
    const { store } = story();
    store.advance("7");
    expect(store.upsertIfNewer(object("a", "7"))).to.equal(false);
    expect(store.upsertIfNewer(object("a", "8"))).to.equal(true);
  });

  it("a deletion that comes late does not hit the re-created object", () => {
    const { store } = story();
    store.upsert(object("a", "1", "u1"));
    store.upsertIfNewer(object("a", "5", "u2"));
    store.delete(object("a", "3", "u1"));
    expect(store.get("a")?.metadata.uid).to.equal("u2");
  });

  it("says since when it is connected or not, and keeps its objects", async () => {
    const { system, store, take } = story();
    replaceAll(store, [object("a", "1")], "1");
    store.setConnected(true);
    await system.advance(1000);
    store.setConnected(false);
    expect(store.state()).to.deep.equal({ synced: true, connected: false, since: system.clock.now() });
    expect(store.size).to.equal(1);
    expect(take()).to.include("synced=true connected=false");
  });

  it("logs a handler that throws and goes on with the others", () => {
    const { system, store, take } = story();
    store.subscribe({
      onAdd() {
        throw new Error("no");
      },
    });
    store.upsert(object("a", "1"));
    expect(take()).to.deep.equal(["add a@1"]);
    expect(system.lines.map((l) => l.level)).to.deep.equal(["error"]);
  });

  it("tells nothing after the subscription was cancelled", () => {
    const { store, take, cancel } = story();
    cancel();
    store.upsert(object("a", "1"));
    expect(take()).to.deep.equal([]);
  });
});

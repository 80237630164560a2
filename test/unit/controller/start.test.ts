import { expect } from "chai";
import type { Fleet } from "./fleet.ts";
import { createFleet, settledFleet } from "./fleet.ts";
import { condition } from "./objects.ts";

const blocked = { conditions: [condition("Ready", "False", "SourceNotFound", "no such path")] };
const path = (name: string) => ({ mounts: [{ name: "host", path: `/mnt/nodevolume/${name}` }] });

describe("startController: the life of a set", () => {
  it("writes one intent a node, makes their states, and says when all is ready", async () => {
    const fleet = await settledFleet();
    expect(fleet.intents().map(({ spec }) => spec.nodeName)).to.deep.equal(["n0", "n1", "n2"]);
    expect(fleet.api.objects("nodevolumestates").map((o) => o.metadata.name)).to.deep.equal(["n0", "n1", "n2"]);
    expect(fleet.setStatus("a")).to.deep.include({ desired: 3, updated: 3, ready: 3, failed: 0, failing: [] });
    expect(fleet.api.object("nodevolumesets", "a")?.metadata.finalizers).to.deep.equal(["nodevolume.dev/unmount"]);
    expect(fleet.api.objects("events").map((e) => e["reason"])).to.deep.equal(["AllReady"]);
  });

  it("puts the finalizer on the set before it writes the first intent", async () => {
    const { api } = await settledFleet();
    const firstIntent = api.writes.findIndex((w) => w.plural === "nodevolumeintents");
    const finalizer = api.writes.findIndex((w) => JSON.stringify(w.body).includes("nodevolume.dev/unmount"));
    expect(finalizer).to.be.greaterThan(-1).and.lessThan(firstIntent);
  });

  it("writes nothing but its Lease once all is as it shall be", async () => {
    const fleet = await settledFleet();
    const before = fleet.api.writes.length;
    await fleet.run(300_000);
    // Everything is looked at again, and found to be as it shall be.
    fleet.node("n0", { labels: { unrelated: "label" } });
    await fleet.run(300_000);
    const after = fleet.api.writes.slice(before).filter((w) => w.plural !== "leases");
    expect(after).to.deep.equal([]);
  });

  it("serves a node that comes, and gives back what is on one that is no longer selected", async () => {
    const fleet = await settledFleet(2, { nodeSelector: {} });
    fleet.node("n7");
    await fleet.run(1_000);
    expect(fleet.intent("n7").status.state).to.equal("Mounted");
    expect(fleet.setStatus("a")["ready"]).to.equal(3);
    fleet.node("n7", { taints: [{ key: "k", effect: "NoExecute" }] });
    await fleet.run(1_000);
    expect(fleet.intents().map(({ spec }) => spec.nodeName)).to.deep.equal(["n0", "n1"]);
  });

  it("deleting the set unmounts everywhere, and the set is gone when the last node has let go", async () => {
    const fleet = await settledFleet();
    fleet.agents.delete("n1");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    expect(fleet.intents().map(({ spec }) => spec.nodeName)).to.deep.equal(["n1"]);
    expect(fleet.conditions("a")).to.deep.equal(["Ready=False/Deleting", "Reconciling=True/Deleting"]);
    fleet.agents.add("n1");
    await fleet.run(2_000);
    expect(fleet.intents()).to.deep.equal([]);
    expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
  });

  it("a set is not gone before a write for it that is under way has landed and been taken back", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    const { request } = fleet.api;
    fleet.api.request = async (r) => {
      if (r.method === "POST" && r.path.endsWith("intents")) {
        await new Promise<void>((resolve) => fleet.system.timers.after(4_000, resolve));
      }
      return request(r);
    };
    fleet.set("a");
    fleet.start();
    await fleet.run(2_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    expect(fleet.intents()).to.deep.equal([]);
    expect(fleet.api.object("nodevolumesets", "a")).not.to.equal(undefined);
    await fleet.run(6_000);
    expect(fleet.writesOf("nodevolumeintents", "create")).to.equal(1);
    expect(fleet.intents()).to.deep.equal([]);
    expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
  });

  it("a set that is created again at once waits for the end of the one before", async () => {
    const fleet = await settledFleet(1, { volume: { source: { emptyDir: {} } } });
    const [before] = fleet.intents();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    fleet.set("a", { volume: { source: { emptyDir: {} } } });
    await fleet.run(2_000);
    expect(fleet.intent("n0").metadata.name).not.to.equal(before?.metadata.name);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("an intent that somebody deletes is released and written again", async () => {
    const fleet = await settledFleet(1);
    const before = fleet.intent("n0").metadata;
    fleet.api.remove("nodevolumeintents", before.name);
    await fleet.run(2_000);
    expect(fleet.intent("n0").metadata.name).to.equal(before.name);
    expect(fleet.intent("n0").metadata.uid).not.to.equal(before.uid);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("a status that somebody wipes is written again", async () => {
    const fleet = await settledFleet(1);
    fleet.api.patch("nodevolumesets", "a", { status: { conditions: null, ready: null } }, "status");
    await fleet.run(1_000);
    expect(fleet.setStatus("a")["ready"]).to.equal(1);
  });
});

function mountsOfA(fleet: Fleet): (string | undefined)[] {
  const mounts = fleet.intents().flatMap(({ spec }) => spec.mounts.filter((m) => m.requester.name === "a"));
  return mounts.map((mount) => mount.path.replace(/.*\//, ""));
}

describe("startController: rollout", () => {
  const paths = (fleet: Fleet) => fleet.intents().map(({ spec }) => spec.mounts[0]?.path.replace(/.*\//, ""));

  it("changes one node after the other, never more than allowed at a time", async () => {
    const fleet = await settledFleet(5);
    fleet.set("a", path("b"));
    let worst = 0;
    for (let i = 0; i < 100; i += 1) {
      await fleet.run(50);
      const down = fleet.intents().filter((i) => i.status.observedGeneration !== i.metadata.generation).length;
      worst = Math.max(worst, down);
    }
    expect(paths(fleet)).to.deep.equal(["b", "b", "b", "b", "b"]);
    expect(worst).to.be.at.most(1);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("pauses at the first failure, says so, and goes on when the set is mended", async () => {
    const fleet = await settledFleet(4);
    for (const name of ["n0", "n1", "n2", "n3"]) fleet.failures.set(name, {});
    fleet.failures.set("n0", blocked);
    fleet.set("a", path("b"));
    await fleet.run(5_000);
    expect(paths(fleet)).to.deep.equal(["b", "a", "a", "a"]);
    expect(fleet.conditions("a")).to.include("Stalled=True/RolloutPaused");
    expect(fleet.setStatus("a")).to.deep.include({ updated: 1, ready: 3, failed: 1 });
    expect(fleet.api.objects("events").map((e) => e["reason"])).to.include("RolloutPaused");
    fleet.failures.clear();
    fleet.set("a", path("c"));
    await fleet.run(5_000);
    expect(paths(fleet)).to.deep.equal(["c", "c", "c", "c"]);
  });

  it("a failure of another set's mount of the same volume does not pause it", async () => {
    const fleet = createFleet();
    for (let i = 0; i < 3; i += 1) fleet.node(`n${i}`);
    fleet.set("a");
    fleet.set("b");
    fleet.start();
    await fleet.run(3_000);
    const foreign = { state: "Foreign", reason: "ForeignMount", message: "nfs" } as const;
    for (const name of ["n0", "n1", "n2"]) {
      const mounts = [
        { name: "a.host", path: "/mnt/nodevolume/c", state: "Mounted" as const },
        { name: "b.host", path: "/mnt/nodevolume/b", ...foreign },
      ];
      fleet.failures.set(name, { mounts, conditions: [condition("Ready", "False", "ForeignMount", "nfs")] });
    }
    fleet.set("a", path("c"));
    await fleet.run(5_000);
    expect(mountsOfA(fleet)).to.deep.equal(["c", "c", "c"]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
    expect(fleet.conditions("b")).to.include("Stalled=True/ForeignMount");
  });

  it("a new source: the new intent before the old one goes, node by node", async () => {
    const fleet = await settledFleet(3);
    fleet.set("a", { volume: { source: { hostPath: { path: "/data/new" } } } });
    await fleet.run(5_000);
    expect(fleet.intents().map(({ spec }) => spec.volumeName)).to.deep.equal(["new", "new", "new"]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("counts a write that is under way, also when another node comes before it in the meantime", async () => {
    const fleet = await settledFleet(2);
    fleet.node("n0", { labels: { pool: "b" } });
    const other = { source: { hostPath: { path: "/data/other" } } };
    fleet.set("b", { volume: other, ...path("b"), nodeSelector: { pool: "b" } });
    await fleet.run(2_000);
    const { request } = fleet.api;
    let slow = 0;
    fleet.api.request = async (r) => {
      if (r.method === "PATCH" && r.path.endsWith(fleet.intent("n1").metadata.name)) {
        slow += 1;
        await new Promise<void>((resolve) => fleet.system.timers.after(3_000, resolve));
      }
      return request(r);
    };
    // On n0 set b has the path, so a waits there, and n1 is the first to change.
    fleet.set("a", path("b"));
    await fleet.run(1_000);
    expect(slow).to.equal(1);
    expect(fleet.conditions("a")).to.include("Conflict=True/Conflict");
    fleet.set("b", { volume: other, ...path("c"), nodeSelector: { pool: "b" } });
    await fleet.run(1_000);
    expect(fleet.conditions("a")).to.include("Conflict=False/NoConflict");
    expect(mountsOfA(fleet)).to.deep.equal(["a", "a"]);
    await fleet.run(6_000);
    expect(mountsOfA(fleet)).to.deep.equal(["b", "b"]);
  });

  it("answers that get lost do not make it exceed its budget", async () => {
    const fleet = await settledFleet(6);
    fleet.set("a", path("b"));
    let requests = 0;
    fleet.api.fault = ({ method, path: at }) => {
      if (method !== "PATCH" || !at.includes("intents")) return undefined;
      requests += 1;
      return requests % 2 === 0 ? { when: "after" } : requests % 3 === 0 ? { when: "before" } : undefined;
    };
    let worst = 0;
    for (let i = 0; i < 400; i += 1) {
      await fleet.run(50);
      const down = fleet.intents().filter((i) => i.status.observedGeneration !== i.metadata.generation).length;
      worst = Math.max(worst, down);
    }
    expect(paths(fleet)).to.deep.equal(["b", "b", "b", "b", "b", "b"]);
    expect(worst).to.be.at.most(1);
  });
});

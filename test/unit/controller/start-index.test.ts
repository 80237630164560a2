import { expect } from "chai";
import type { IndexedIntent, NodeVolumeStateSpec } from "../../../src/api/types.gen.ts";
import type { Fleet } from "./fleet.ts";
import { createFleet } from "./fleet.ts";

const states = "nodevolumestates";

function indexOn(fleet: Fleet, node: string): NodeVolumeStateSpec | undefined {
  return fleet.api.object(states, node)?.spec as NodeVolumeStateSpec | undefined;
}

/** What the index must say, by the intents that there are. */
function truth(fleet: Fleet, node: string): Omit<IndexedIntent, "controllerStatus">[] {
  const own = fleet.intents().filter(({ spec }) => spec.nodeName === node);
  const entries = own.map(({ metadata: { name, uid = "", generation = 0 } }) => ({ name, uid, generation }));
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const withoutStatus = ({ controllerStatus: _, ...entry }: IndexedIntent) => entry;

const volumeOf = (set: string) => ({ volume: { source: { hostPath: { path: `/data/${set}` } } } });

async function indexedFleet(nodes = 2): Promise<Fleet> {
  const fleet = createFleet();
  for (let i = 0; i < nodes; i += 1) fleet.node(`n${i}`);
  for (const set of ["a", "b", "c"]) fleet.set(set, volumeOf(set));
  fleet.start("c1", "None", true);
  await fleet.run(3_000);
  return fleet;
}

describe("a controller with --index-intents", () => {
  it("keeps the index of each node what its intents are, and writes nothing while nothing changes", async () => {
    const fleet = await indexedFleet();
    for (const node of ["n0", "n1"]) {
      expect(indexOn(fleet, node)?.intents?.map(withoutStatus)).to.deep.equal(truth(fleet, node));
      expect(truth(fleet, node)).to.have.length(3);
    }
    const before = fleet.writesOf(states);
    fleet.api.breakWatches("expire"); // so that everything is read and looked at again
    await fleet.run(120_000);
    expect(fleet.writesOf(states)).to.equal(before);
  });

  it("makes changes that come together one write a node, and a deletion two: revoked, and gone", async () => {
    const fleet = await indexedFleet();
    const before = fleet.writesOf(states, "patch");
    for (const set of ["a", "b", "c"]) {
      fleet.set(set, { ...volumeOf(set), mounts: [{ name: "host", path: `/mnt/nodevolume/${set}-other` }] });
    }
    await fleet.run(3_000);
    expect(indexOn(fleet, "n0")?.intents?.map(withoutStatus)).to.deep.equal(truth(fleet, "n0"));
    expect(fleet.writesOf(states, "patch") - before).to.be.within(2, 2 * 3);
    fleet.api.remove("nodevolumesets", "a");
    const seen: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      await fleet.run(50);
      seen.push(indexOn(fleet, "n0")?.intents?.length ?? -1);
    }
    expect(seen.at(-1)).to.equal(2);
    expect(indexOn(fleet, "n0")?.intents?.map(withoutStatus)).to.deep.equal(truth(fleet, "n0"));
  });

  it("mends an index that somebody has emptied, taken away or made up", async () => {
    const fleet = await indexedFleet();
    const right = indexOn(fleet, "n0");
    const madeUp = { intents: [{ name: "n0.x", uid: "u", generation: 1 }] };
    for (const spec of [{ intents: [] }, null, madeUp]) {
      fleet.api.patch(states, "n0", { spec });
      await fleet.run(1_000);
      expect(indexOn(fleet, "n0")).to.deep.equal(right);
    }
  });

  it("tries again what an agent's status came before", async () => {
    const fleet = await indexedFleet();
    let refusals = 0;
    fleet.api.fault = ({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith(`${states}/n0`) || refusals > 0) return undefined;
      refusals += 1;
      return { status: 409 };
    };
    fleet.api.patch(states, "n0", { spec: { intents: [] } });
    await fleet.run(2_000);
    expect(refusals).to.equal(1);
    const patches = fleet.api.writes.filter(({ plural, verb }) => plural === states && verb === "patch");
    for (const { body } of patches) expect(body).to.have.nested.property("metadata.resourceVersion");
    expect(indexOn(fleet, "n0")?.intents).to.have.length(3);
  });

  it("names what it has written into a status, so that the agent reads that again", async () => {
    const fleet = await indexedFleet();
    expect(indexOn(fleet, "n0")?.intents?.every((entry) => entry.controllerStatus === undefined)).to.equal(true);
    fleet.agents.delete("n0");
    await fleet.run(400_000);
    expect(indexOn(fleet, "n0")?.intents?.every((entry) => entry.controllerStatus !== undefined)).to.equal(true);
    expect(indexOn(fleet, "n1")?.intents?.every((entry) => entry.controllerStatus === undefined)).to.equal(true);
  });

  it("writes no index while it does not see all intents", async () => {
    const fleet = await indexedFleet();
    fleet.api.fault = ({ path }) => (path.endsWith("/nodevolumeintents") ? { when: "before" } : undefined);
    fleet.api.breakWatches("error");
    await fleet.run(60_000);
    fleet.api.patch(states, "n0", { spec: { intents: [] } });
    await fleet.run(60_000);
    expect(indexOn(fleet, "n0")).to.deep.equal({ intents: [] });
    fleet.api.fault = () => undefined;
    await fleet.run(60_000);
    expect(indexOn(fleet, "n0")?.intents?.map(withoutStatus)).to.deep.equal(truth(fleet, "n0"));
  });
});

describe("a controller without --index-intents", () => {
  it("writes no index, and takes one away that nobody keeps any more", async () => {
    const fleet = createFleet();
    for (const node of ["n0", "n1"]) fleet.node(node);
    fleet.set("a");
    fleet.api.apply(states, { metadata: { name: "n0" }, spec: { intents: [] } });
    fleet.start();
    await fleet.run(3_000);
    for (const node of ["n0", "n1"]) expect(indexOn(fleet, node)).to.equal(undefined);
    expect(fleet.writesOf(states, "patch")).to.equal(1);
  });
});

import { expect } from "chai";
import type { CreateFinalizerController } from "../../../../src/controller/sets/finalizer-controller.ts";
import { createFinalizerController } from "../../../../src/controller/sets/finalizer-controller.ts";
import type { Fleet } from "../fleet.ts";
import { createFleet } from "../fleet.ts";

const path = (name: string) => ({ mounts: [{ name: "host", path: `/mnt/nodevolume/${name}` }] });

/** A fleet that is at rest, with two sets on three nodes, and the names of the sets that are looked at from then on. */
async function fleetAtRest(): Promise<{ fleet: Fleet; looked: string[] }> {
  const looked: string[] = [];
  const createShell: CreateFinalizerController = (deps) =>
    createFinalizerController({
      ...deps,
      watchSets: (onSet) =>
        deps.watchSets((set) => {
          looked.push(set.metadata.name);
          return onSet(set);
        }),
    });
  const fleet = createFleet(createShell);
  for (const name of ["n0", "n1", "n2"]) fleet.node(name);
  fleet.set("a", path("a"));
  fleet.set("b", path("b"));
  fleet.start();
  await fleet.run(5_000);
  for (const name of ["a", "b"]) expect(fleet.conditions(name)[0]).to.equal("Ready=True/AllReady");
  looked.length = 0;
  return { fleet, looked };
}

describe("when a set is looked at", () => {
  it("one that is new at once, so that it has its finalizer and its intents without a pause", async () => {
    const { fleet, looked } = await fleetAtRest();
    fleet.set("new", { ...path("new"), volume: { source: { emptyDir: {} } } });
    await fleet.system.advance(1);
    expect(looked).to.deep.equal(["new"]);
    await fleet.system.advance(5);
    expect(fleet.intents()).to.have.length(6);
  });

  it("one whose spec changes at once, and the others, whom that may concern, with what else comes", async () => {
    const { fleet, looked } = await fleetAtRest();
    fleet.set("b", { ...path("b"), suspend: true });
    await fleet.system.advance(1);
    expect(looked).to.deep.equal(["b"]);
    await fleet.system.advance(98);
    expect(looked.filter((name) => name === "a")).to.deep.equal([]);
    await fleet.system.advance(2);
    expect(looked.filter((name) => name === "a")).to.deep.equal(["a"]);
  });

  it("one that is deleted at once", async () => {
    const { fleet, looked } = await fleetAtRest();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.system.advance(1);
    expect(looked).to.deep.equal(["a"]);
  });

  it("once for all that comes from its nodes within 100 ms", async () => {
    const { fleet, looked } = await fleetAtRest();
    for (const { metadata } of fleet.intents()) {
      fleet.api.patch("nodevolumeintents", metadata.name, { status: { message: "anything" } }, "status");
      await fleet.system.advance(10);
    }
    expect(looked).to.deep.equal([]);
    await fleet.system.advance(100);
    expect(looked.toSorted()).to.deep.equal(["a", "b"]);
  });

  it("with what else comes when only a finalizer or a label of it changes", async () => {
    const { fleet, looked } = await fleetAtRest();
    fleet.api.patch("nodevolumesets", "a", { metadata: { labels: { team: "x" } } });
    fleet.api.patch("nodevolumesets", "b", { metadata: { finalizers: ["a/b", "nodevolume.dev/unmount"] } });
    await fleet.system.advance(90);
    expect(looked).to.deep.equal([]);
    await fleet.system.advance(20);
    expect(looked.toSorted()).to.deep.equal(["a", "b"]);
  });
});

describe("when the sets of a node are weighed", () => {
  async function runsOfNodes(fleet: Fleet): Promise<number> {
    const { values } = (await fleet.registry.getSingleMetric("nodevolume_controller_reconcile_total")?.get()) ?? {
      values: [],
    };
    return values.reduce((sum, { labels, value }) => sum + (labels["queue"] === "nodes" ? value : 0), 0);
  }

  it("once for all that its agent writes within 50 ms", async () => {
    const { fleet } = await fleetAtRest();
    const before = await runsOfNodes(fleet);
    const ofOne = fleet.intents().filter(({ spec }) => spec.nodeName === "n0");
    for (const message of ["one", "two", "three"]) {
      for (const { metadata } of ofOne)
        fleet.api.patch("nodevolumeintents", metadata.name, { status: { message } }, "status");
      await fleet.system.advance(10);
    }
    expect(await runsOfNodes(fleet)).to.equal(before);
    await fleet.system.advance(50);
    expect(await runsOfNodes(fleet)).to.equal(before + 1);
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { createFleet } from "./fleet.ts";

describe("startController: work in turns", () => {
  /** Sets and nodes come and go, and one leader after the other; what is there at the end, and what was deleted. */
  async function story(over: () => boolean) {
    const fleet = createFleet(undefined, over);
    for (const name of ["n0", "n1", "n2"]) fleet.node(name);
    for (const name of ["a", "b"]) fleet.set(name, { volume: { source: { hostPath: { path: `/data/${name}` } } } });
    const first = fleet.start("c1");
    await fleet.run(2_000);
    fleet.start("c2");
    fleet.node("n3", { labels: { late: "yes" } });
    await fleet.run(2_000);
    fleet.api.breakWatches("expire");
    fleet.set("b", { volume: { source: { hostPath: { path: "/data/other" } } } });
    await fleet.run(500);
    const stopped = first.stop();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(30_000);
    await stopped;
    return {
      intents: fleet
        .intents()
        .map(({ metadata, status }) => `${metadata.name} ${status.state}`)
        .sort(),
      b: fleet.conditions("b"),
      a: fleet.api.object("nodevolumesets", "a"),
    };
  }

  it("law: whenever turns are over, the same comes of it", async () => {
    const atOnce = await story(() => false);
    expect(atOnce.intents.length).to.equal(4);
    expect(atOnce.a).to.equal(undefined);
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.boolean()), async (overs) => {
        expect(await story(() => overs.next().value === true)).to.deep.equal(atOnce);
      }),
      { numRuns: 2 },
    );
    expect(await story(() => true)).to.deep.equal(atOnce);
  });
});

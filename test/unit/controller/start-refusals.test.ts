import { expect } from "chai";
import type { Fleet } from "./fleet.ts";
import { createFleet, settledFleet } from "./fleet.ts";

/** A volume of its own for a set. */
const volume = (name: string) => ({ volume: { source: { hostPath: { path: `/data/${name}` } } } });

/** Refuses every write of an intent whose body has this text, as an admission policy of somebody else would. */
function refuse(fleet: Fleet, text: string): void {
  fleet.api.fault = ({ method, path, body }) =>
    method !== "GET" && path.includes("nodevolumeintents") && JSON.stringify(body ?? "").includes(text)
      ? { status: 422 }
      : undefined;
}

describe("startController: a write that the API server refuses", () => {
  const setsOn = (fleet: Fleet) => [...new Set(fleet.intents().map(({ spec }) => spec.volumeName))].sort();

  it("holds up no other set of the node, neither what comes nor what goes", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    fleet.set("z", volume("z"));
    fleet.start();
    await fleet.run(2_000);
    refuse(fleet, "/data/a");
    fleet.set("a", volume("a"));
    fleet.set("b", volume("b"));
    fleet.api.remove("nodevolumesets", "z");
    await fleet.run(5_000);
    expect(setsOn(fleet)).to.deep.equal(["b"]);
    expect(fleet.conditions("a")).to.include.members(["Ready=False/NodesNotReady", "Stalled=True/Invalid"]);
    expect(fleet.conditions("b")[0]).to.equal("Ready=True/AllReady");
    expect(fleet.api.object("nodevolumesets", "z")).to.equal(undefined);
  });

  it("keeps what the set has until what it wants is there", async () => {
    const fleet = await settledFleet(1, volume("old"));
    refuse(fleet, "/data/new");
    fleet.set("a", volume("new"));
    await fleet.run(5_000);
    expect(setsOn(fleet)).to.deep.equal(["old"]);
    fleet.api.fault = () => undefined;
    await fleet.run(60_000);
    expect(setsOn(fleet)).to.deep.equal(["new"]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("is forgotten with its cause, and nobody else is blamed for it", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    fleet.start();
    refuse(fleet, "/data/a");
    fleet.set("a", volume("a"));
    await fleet.run(2_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    // Two others that cannot be written for a reason of their own: they want the same path.
    const mounts = [{ name: "host", path: "/mnt/nodevolume/same" }];
    fleet.set("b", { ...volume("b"), mounts });
    fleet.set("c", { ...volume("c"), mounts });
    await fleet.run(5_000);
    expect(fleet.setStatus("b")).to.deep.include({ conflict: 1, failed: 0 });
  });
});

import { expect } from "chai";
import { setsOf } from "../../../../src/controller/intents/write-intents.ts";
import { setEntry } from "../objects.ts";
import { oneNode } from "../one-node.ts";
import { ours, pod } from "./pod-objects.ts";
import { forPods, team } from "./pod-worlds.ts";

describe("the sets that a write of pods concerns", () => {
  it("are those whose label is on its way, and not those whose mounts are beside: a rollout does not count pods", () => {
    const world = oneNode([setEntry("a", { spec: team }), forPods("b", {}, { created: 1 })]);
    world.settle();
    const concerned = () => world.writes().map((write) => [...setsOf(write)]);
    world.pods = [pod("team/p")];
    expect(concerned()).to.deep.equal([[]]);
    world.settle();
    world.pods.push(pod("team/q", { created: 1, volumes: [ours({ set: "b" })] }));
    expect(concerned()).to.deep.equal([["b"]]);
  });

  it("are all that the intent is made for", () => {
    const world = oneNode([forPods("a"), forPods("b", {}, { created: 1 })]);
    world.pods = [pod("team/p"), pod("team/q", { created: 1, volumes: [ours({ set: "b" })] })];
    expect(world.writes().map((write) => [...setsOf(write)])).to.deep.equal([["a", "b"]]);
  });
});

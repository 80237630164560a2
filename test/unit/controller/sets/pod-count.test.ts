import { expect } from "chai";
import type { NodeVolumeSetStatus } from "../../../../src/api/types.gen.ts";
import { createPodCount } from "../../../../src/controller/sets/pod-count.ts";
import { setStatus } from "../../../../src/controller/sets/set-status.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { oneNode } from "../one-node.ts";
import { pod } from "../pods/pod-objects.ts";
import { forPods } from "../pods/pod-worlds.ts";

describe("the number of pods of a set", () => {
  const rollout = { admitted: new Set<string>(), pausedBy: undefined, outdated: 0 };
  const remaining = { intents: 0, lost: [] };
  const said = (status: NodeVolumeSetStatus, pods: number | undefined) =>
    setStatus({ entry: { ...forPods(), status }, nodes: [], rollout, remaining, selected: () => "some", pods }, 0);

  it("is in the status once any pod used it, and stays while it is not known", () => {
    expect(said({}, 0)).not.to.have.property("pods");
    const three = said({}, 3);
    expect(three.pods).to.equal(3);
    expect(said(three, undefined).pods).to.equal(3);
    expect(said(three, 0).pods).to.equal(0);
  });

  it("counts pods that an intent in force lists", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p"), pod("team/q", { created: 1 })];
    world.settle();
    const all = [...world.pods, pod("team/late"), pod("team/elsewhere", { node: "n2" })];
    let complete = true;
    const intentsOf = (name: string) => (name === "n1" ? world.intents() : []);
    const pods = { complete: () => complete, ofSet: () => all };
    const count = createPodCount({ clock: virtualSystem().clock, pods, intentsOf });
    expect(count.of("a")).to.equal(2);
    complete = false;
    expect(count.of("a")).to.equal(undefined);
  });

  it("alone is written every five seconds at most, and with anything else at once", async () => {
    const system = virtualSystem();
    const pods = { complete: () => true, ofSet: () => [] };
    const count = createPodCount({ clock: system.clock, pods, intentsOf: () => [] });
    expect(count.putOffMs("a", { pods: 1 }, { pods: 2 })).to.equal(0);
    await system.advance(1_000);
    expect(count.putOffMs("a", { pods: 2 }, { pods: 3 })).to.equal(4_000);
    expect(count.putOffMs("a", { pods: 2, ready: 1 }, { pods: 3, ready: 2 })).to.equal(0);
    await system.advance(5_000);
    expect(count.putOffMs("a", { pods: 3 }, { pods: 4 })).to.equal(0);
  });
});

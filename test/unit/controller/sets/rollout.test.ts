import { expect } from "chai";
import type { RolloutPolicy } from "../../../../src/api/types.gen.ts";
import type { SetOnNode } from "../../../../src/controller/model/node-input.ts";
import type { RolloutNode } from "../../../../src/controller/sets/rollout.ts";
import { decideRollout, unavailableLimit } from "../../../../src/controller/sets/rollout.ts";
import { setEntry, settledStatus } from "../objects.ts";
import { oneNode } from "../one-node.ts";

describe("unavailableLimit", () => {
  const cases: [number | string, number, number][] = [
    [1, 10, 1],
    [3, 10, 3],
    ["10%", 10, 1],
    ["10%", 11, 2],
    ["1%", 3, 1],
    ["100%", 7, 7],
    ["50%", 0, 1],
  ];
  for (const [maxUnavailable, count, expected] of cases) {
    it(`${maxUnavailable} of ${count} is ${expected}`, () => {
      expect(unavailableLimit({ maxUnavailable, onFailure: "Pause" }, count)).to.equal(expected);
    });
  }
});

describe("decideRollout", () => {
  type Kind = "current" | "outdated" | "absent";
  type Mood = "ready" | "broken" | "blocked" | "unobserved" | "lost" | "waiting" | "blind";

  /** A node in a state, made by the real resolution of real objects. */
  function member(name: string, kind: Kind, mood: Mood = "ready", mode: "Manage" | "Observe" = "Manage"): RolloutNode {
    const world = oneNode([setEntry("a", { spec: { mode } })], name);
    if (kind !== "absent") world.settle();
    for (const intent of world.intents()) {
      const trouble = (reason: string) => ({
        conditions: [
          { type: "Ready", status: "False" as const, reason, message: "m", lastTransitionTime: "2024-01-01T00:00:00Z" },
        ],
      });
      const statuses = {
        ready: settledStatus(intent),
        broken: settledStatus(intent, trouble("SetUpFailed")),
        blocked: settledStatus(intent, trouble("SourceNotFound")),
        waiting: settledStatus(intent, trouble("VolumeHeldElsewhere")),
        blind: settledStatus(intent, trouble("MountTableUnreadable")),
        unobserved: settledStatus(intent, { observedGeneration: 0 }),
        lost: settledStatus(intent, { observedGeneration: 0, agentState: { state: "Lost", since: "" } }),
      };
      world.change(intent.metadata.name, (i) => Object.assign(i, { status: statuses[mood] }));
    }
    if (kind === "outdated") {
      world.sets = [setEntry("a", { spec: { mode, mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] } })];
    }
    const onNode = world.setsOnNode().get("a") as SetOnNode;
    expect(onNode.state).to.equal(kind);
    return { node: name, onNode };
  }

  const policy = (
    maxUnavailable: RolloutPolicy["maxUnavailable"] = 1,
    onFailure: RolloutPolicy["onFailure"] = "Pause",
  ) => ({ maxUnavailable, onFailure });
  const admittedOf = (nodes: RolloutNode[], more = policy(), writing: string[] = []) =>
    [...decideRollout(more, nodes, new Set(writing)).admitted].sort();

  it("admits as many as may be unavailable, in the order of their names", () => {
    const nodes = ["c", "a", "b"].map((name) => member(name, "outdated"));
    expect(admittedOf(nodes)).to.deep.equal(["a"]);
    expect(admittedOf(nodes, policy(2))).to.deep.equal(["a", "b"]);
    expect(admittedOf(nodes, policy("100%"))).to.deep.equal(["a", "b", "c"]);
  });

  it("those who wait until another node lets go take no room: that one gets its update", () => {
    const nodes = [member("a", "current", "waiting"), member("b", "outdated"), member("c", "outdated", "waiting")];
    expect(admittedOf(nodes)).to.deep.equal(["b", "c"]);
    expect(admittedOf([...nodes, member("d", "current", "broken")])).to.deep.equal(["c"]);
  });

  it("those who are unavailable go at once, and take the room of the others", () => {
    const nodes = [member("a", "outdated"), member("b", "outdated", "broken"), member("c", "outdated", "blocked")];
    expect(admittedOf(nodes, policy(2))).to.deep.equal(["b", "c"]);
    expect(admittedOf(nodes, policy(3))).to.deep.equal(["a", "b", "c"]);
  });

  it("an updated node takes room until its agent says that it is ready with the newest spec", () => {
    for (const mood of ["unobserved", "broken", "lost"] as const) {
      expect(admittedOf([member("a", "current", mood), member("b", "outdated")]), mood).to.deep.equal([]);
    }
    expect(admittedOf([member("a", "current"), member("b", "outdated")])).to.deep.equal(["b"]);
  });

  it("a node of which nothing is known takes room and gets nothing; a lost one gets it at once", () => {
    const nodes = [member("a", "outdated", "unobserved"), member("b", "outdated")];
    expect(admittedOf(nodes)).to.deep.equal([]);
    expect(admittedOf(nodes, policy(2))).to.deep.equal(["b"]);
    expect(admittedOf([member("a", "outdated", "lost")])).to.deep.equal(["a"]);
  });

  it("a node where nothing is yet takes room: it is served apart from the rollout", () => {
    expect(admittedOf([member("a", "absent"), member("b", "outdated")])).to.deep.equal([]);
  });

  it("a write under way takes room, and its node stays admitted", () => {
    const nodes = [member("a", "outdated"), member("b", "outdated")];
    expect(admittedOf(nodes, policy(), ["b"])).to.deep.equal(["b"]);
    expect(admittedOf(nodes, policy(2), ["b"])).to.deep.equal(["a", "b"]);
    expect(admittedOf([member("a", "current"), member("b", "outdated")], policy(), ["a"])).to.deep.equal([]);
  });

  it("a set that only observes loses nothing, so all are admitted", () => {
    const nodes = ["a", "b", "c"].map((name) => member(name, "outdated", "ready", "Observe"));
    expect(admittedOf(nodes)).to.deep.equal(["a", "b", "c"]);
  });

  it("a node that is held is not admitted", () => {
    const held = member("a", "outdated");
    expect(admittedOf([{ ...held, onNode: { ...held.onNode, held: true } }, member("b", "outdated")])).to.deep.equal([
      "b",
    ]);
  });

  it("pauses when a node that got the change reports a failure, and names it", () => {
    const nodes = [member("a", "current", "blocked"), member("b", "outdated"), member("c", "outdated", "broken")];
    const rollout = decideRollout(policy(3), nodes, new Set());
    expect([...rollout.admitted]).to.deep.equal([]);
    expect(rollout.pausedBy).to.deep.equal({ node: "a", reason: "SourceNotFound", message: "m" });
    expect(rollout.outdated).to.equal(2);
    expect(admittedOf(nodes, policy(3, "Continue"))).to.deep.equal(["b", "c"]);
  });

  it("pauses while a node that got the change cannot see whether it fails, and names rather one that does", () => {
    const nodes = [member("a", "current", "blind"), member("b", "outdated", "blocked"), member("c", "outdated")];
    const rollout = decideRollout(policy(3), nodes, new Set());
    expect([...rollout.admitted]).to.deep.equal([]);
    expect(rollout.pausedBy?.reason).to.equal("MountTableUnreadable");
    expect(admittedOf(nodes, policy(3, "Continue"))).to.deep.equal(["b", "c"]);
    expect(admittedOf([member("a", "outdated", "blind"), member("b", "outdated")], policy(2))).to.deep.equal(["b"]);
    const failed = decideRollout(policy(3), [...nodes, member("d", "current", "blocked")], new Set());
    expect(failed.pausedBy?.node).to.equal("d");
  });

  it("does not pause for a failure that mends itself, for one of the older spec, or when all have the newest", () => {
    const paused = (nodes: RolloutNode[]) => decideRollout(policy(), nodes, new Set()).pausedBy !== undefined;
    expect(paused([member("a", "current", "broken"), member("b", "outdated")])).to.equal(false);
    expect(paused([member("a", "outdated", "blocked"), member("b", "outdated")])).to.equal(false);
    expect(paused([member("a", "current", "blocked"), member("b", "current")])).to.equal(false);
  });
});

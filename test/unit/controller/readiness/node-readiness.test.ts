import { expect } from "chai";
import {
  type NodeReadiness,
  nodeReadiness,
  readinessChange,
} from "../../../../src/controller/readiness/node-readiness.ts";
import { condition, node, type SetOptions, setEntry } from "../objects.ts";
import { type OneNode, oneNode } from "../one-node.ts";

const show = ({ condition: c, taint }: NodeReadiness) =>
  `${c === undefined ? "-" : `${c.status}/${c.reason}`} ${taint}`;
const of = (world: OneNode) => nodeReadiness(world.setsOnNode().values(), world.intents());
const set = (name: string, nodeReadiness: "Ignored" | "Condition" | "Taint", more: SetOptions["spec"] = {}) =>
  setEntry(name, { spec: { volume: { source: { emptyDir: {} } }, nodeReadiness, ...more } });

describe("nodeReadiness", () => {
  it("shows nothing where no set asks for it", () => {
    const world = oneNode([set("a", "Ignored")]);
    expect(show(of(world))).to.equal("- off");
    world.settle();
    expect(show(of(world))).to.equal("- off");
  });

  it("is False from the moment the set is there, and True once its volume is mounted", () => {
    const world = oneNode([set("a", "Taint")]);
    expect(show(of(world))).to.equal("False/NotObserved on");
    world.pass();
    expect(show(of(world))).to.equal("False/NotObserved on");
    world.agent();
    expect(show(of(world))).to.equal("True/AllReady off");
    expect(of(world).condition?.message).to.equal("mounted: a");
  });

  it("a set with Condition taints nothing, and names the first that is missing beside the others", () => {
    const world = oneNode([set("a", "Condition"), set("b", "Condition"), set("c", "Taint")]);
    world.settle();
    world.agent();
    const said = { conditions: [condition("Ready", "False", "SourceNotFound", "no such path")] };
    for (const volume of ["a", "b"])
      world.change(world.intent(volume).metadata.name, (i) => Object.assign(i.status, said));
    expect(show(of(world))).to.equal("False/SourceNotFound off");
    expect(of(world).condition?.message).to.equal("set a: no such path; not ready either: b");
  });

  it("has a reason that no terminal obeys, whatever the node says of a mount", () => {
    const world = oneNode([set("a", "Condition")]);
    world.settle();
    world.agent();
    world.change(world.intent("a").metadata.name, ({ status }) => {
      status.conditions = [condition("Ready", "False", "Degraded")];
      for (const mount of status.mounts ?? []) Object.assign(mount, { state: "Absent", reason: "\u001b[2J\nReady" });
    });
    expect(of(world).condition?.reason).to.equal("\\x1b[2J\\x0aReady");
  });

  it("counts no set that does not select the node, is being deleted, or has no mounts", () => {
    const elsewhere = set("a", "Taint", { nodeSelector: { role: "db" } });
    const deleted = setEntry("b", { deleted: true, spec: { nodeReadiness: "Taint" } });
    const forPods = set("c", "Taint", { mounts: [] });
    expect(show(of(oneNode([elsewhere, deleted, forPods])))).to.equal("- off");
  });

  it("stays True while a newer spec is on its way to an agent that has the mounts", () => {
    const world = oneNode([set("a", "Taint")]);
    world.settle();
    world.agent();
    world.change(world.intent("a").metadata.name, (intent) => {
      intent.metadata.generation = (intent.metadata.generation ?? 0) + 1;
    });
    expect(show(of(world))).to.equal("True/AllReady off");
    world.change(world.intent("a").metadata.name, (intent) => {
      intent.status.mounts = [];
    });
    expect(show(of(world))).to.equal("False/NotObserved on");
  });

  it("is Unknown, with the taint as it is, when the agent is lost or cannot see", () => {
    const world = oneNode([set("a", "Taint")]);
    world.settle();
    world.agent();
    const { name } = world.intent("a").metadata;
    const agentState = { state: "Lost" as const, since: "2024-01-01T00:00:00Z" };
    world.change(name, ({ status }) =>
      Object.assign(status, { agentState, conditions: [condition("Ready", "Unknown", "AgentLost")] }),
    );
    expect(show(of(world))).to.equal("Unknown/AgentLost keep");
    world.change(name, ({ status }) => {
      status.conditions = [condition("Ready", "False", "MountTableUnreadable")];
      delete status.agentState;
    });
    expect(show(of(world))).to.equal("Unknown/MountTableUnreadable keep");
  });

  it("is not held up by its own taint, which a Node may be registered with", () => {
    const world = oneNode([set("a", "Taint")]);
    world.node = node("n1", { taints: [{ key: "nodevolume.dev/not-ready", effect: "NoSchedule" }] });
    expect(world.pass()).to.deep.equal(["create a"]);
    expect(world.node.readiness.tainted).to.equal(true);
  });
});

describe("readinessChange", () => {
  const ready = { status: "True", reason: "AllReady", message: "mounted: a" };
  const cases: [string, Parameters<typeof readinessChange>, object | undefined][] = [
    [
      "nothing to nothing",
      [
        { tainted: false, condition: undefined },
        { condition: undefined, taint: "off" },
      ],
      undefined,
    ],
    [
      "a taint of the registration",
      [
        { tainted: true, condition: undefined },
        { condition: undefined, taint: "off" },
      ],
      { taint: "remove", onlyMessage: false },
    ],
    [
      "ready",
      [
        { tainted: true, condition: undefined },
        { condition: ready, taint: "off" },
      ],
      { taint: "remove", condition: "set", onlyMessage: false },
    ],
    [
      "still ready",
      [
        { tainted: false, condition: ready },
        { condition: ready, taint: "off" },
      ],
      undefined,
    ],
    [
      "in other words",
      [
        { tainted: false, condition: { ...ready, message: "" } },
        { condition: ready, taint: "off" },
      ],
      { condition: "set", onlyMessage: true },
    ],
    [
      "taken off by hand",
      [
        { tainted: false, condition: ready },
        { condition: ready, taint: "on" },
      ],
      { taint: "add", onlyMessage: false },
    ],
    [
      "kept",
      [
        { tainted: true, condition: ready },
        { condition: ready, taint: "keep" },
      ],
      undefined,
    ],
    [
      "kept away",
      [
        { tainted: false, condition: ready },
        { condition: ready, taint: "keep" },
      ],
      undefined,
    ],
    [
      "no set any more",
      [
        { tainted: false, condition: ready },
        { condition: undefined, taint: "off" },
      ],
      { condition: "remove", onlyMessage: false },
    ],
  ];
  for (const [what, [shown, wanted], expected] of cases) {
    it(what, () => expect(readinessChange(shown, wanted)).to.deep.equal(expected));
  }
});

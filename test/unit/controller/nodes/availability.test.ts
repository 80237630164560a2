import { expect } from "chai";
import type { MountStatus, NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import { intentNameOf } from "../../../../src/controller/model/volume-identity.ts";
import { availabilityOf } from "../../../../src/controller/nodes/availability.ts";
import { condition, setEntry, settledStatus } from "../objects.ts";
import { oneNode } from "../one-node.ts";

/** Sets a and b share a volume; how each fares when its agent reports this. */
function fare(reason: string, mounts: { a?: Partial<MountStatus>; b?: Partial<MountStatus> }, more: object = {}) {
  const world = oneNode([setEntry("a"), setEntry("b")]);
  world.settle();
  const { name } = world.intent("share").metadata;
  world.change(name, (intent) => {
    const status = settledStatus(intent, { conditions: [condition("Ready", "False", reason, "m")], ...more });
    const change = { "a.host": mounts.a, "b.host": mounts.b } as { [mount: string]: Partial<MountStatus> | undefined };
    status.mounts = (status.mounts ?? []).map((mount) => ({ ...mount, ...change[mount.name] }));
    intent.status = status as NodeVolumeIntentStatus;
  });
  const setsOnNode = world.setsOnNode();
  const of = (set: string) => {
    const found = setsOnNode.get(set)?.found ?? [];
    const { state, trouble, drifted } = availabilityOf(
      found,
      new Map(world.intents().map((i) => [intentNameOf(i), i])),
    );
    return [state, trouble?.reason, trouble?.blocked, drifted].filter((part) => part !== undefined && part !== false);
  };
  return { a: of("a"), b: of("b") };
}

describe("availabilityOf: sets that share a volume", () => {
  it("a mount that is blocked concerns only its own set", () => {
    const foreign = { state: "Foreign", reason: "ForeignMount", message: "nfs" } as const;
    expect(fare("ForeignMount", { b: foreign })).to.deep.equal({
      a: ["available"],
      b: ["unavailable", "ForeignMount", true],
    });
  });

  it("a mount that is not there without a reason of its own has that of the volume", () => {
    expect(fare("TargetBusy", { b: { state: "Absent" } })).to.deep.equal({
      a: ["available"],
      b: ["unavailable", "TargetBusy"],
    });
  });

  it("a mount that is on its way does not get the reason of another set's mount", () => {
    const foreign = { state: "Foreign", reason: "ForeignMount" } as const;
    expect(fare("ForeignMount", { a: { state: "Absent" }, b: foreign })).to.deep.equal({
      a: ["unavailable", "Progressing"],
      b: ["unavailable", "ForeignMount", true],
    });
  });

  it("of an agent that cannot read its mount table nothing is known, so that a rollout takes nothing away there", () => {
    const state = ["unknown", "MountTableUnreadable"];
    expect(fare("MountTableUnreadable", {})).to.deep.equal({ a: state, b: state });
  });

  it("what is wrong with the volume concerns all of them", () => {
    const all = (...state: unknown[]) => ({ a: state, b: state });
    expect(fare("FilesystemReadOnly", { b: { state: "Absent" } })).to.deep.equal(
      all("unavailable", "FilesystemReadOnly", true),
    );
    expect(fare("SourceNotFound", {})).to.deep.equal(all("unavailable", "SourceNotFound", true));
    const gone = { state: "Absent" } as const;
    expect(fare("DeviceBusy", { a: gone, b: gone })).to.deep.equal(all("unavailable", "DeviceBusy", true));
  });

  it("drift of a mount is drift of its own set, that of the volume of all", () => {
    const drift = { drift: { class: "Missing", message: "m", since: "2024-01-01T00:00:00Z" } };
    expect(fare("Progressing", { b: { state: "Absent", drift: "Missing" } }, drift)).to.deep.equal({
      a: ["available"],
      b: ["unavailable", "Progressing", true],
    });
    expect(fare("Progressing", {}, drift).a).to.deep.equal(["unavailable", "Progressing", true]);
  });

  it("an agent that is lost is lost for all", () => {
    const lost = {
      conditions: [condition("Ready", "Unknown", "AgentLost")],
      agentState: { state: "Lost", since: "2024-01-01T00:00:00Z" },
    };
    expect(fare("", { b: { state: "Absent" } }, lost).a).to.deep.equal(["unavailable", "AgentLost"]);
  });
});

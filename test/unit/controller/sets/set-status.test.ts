import { expect } from "chai";
import type { NodeVolumeSetStatus } from "../../../../src/api/types.gen.ts";
import { sameJson } from "../../../../src/kube/same-json.ts";
import { kstatus } from "../../../lib/asserts/kstatus.ts";
import { setEntry } from "../objects.ts";
import type { OneNode } from "../one-node.ts";
import { oneNode } from "../one-node.ts";
import { fleet, report, statusOf } from "./set-worlds.ts";

const short = (status: NodeVolumeSetStatus) => status.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`);
const countsOf = ({ desired, updated, ready, drifted, conflict, failed }: NodeVolumeSetStatus) => [
  desired,
  updated,
  ready,
  drifted,
  conflict,
  failed,
];

describe("setStatus", () => {
  it("all is ready", () => {
    const status = statusOf(fleet(3));
    expect(countsOf(status)).to.deep.equal([3, 3, 3, 0, 0, 0]);
    expect(status.failing).to.deep.equal([]);
    expect(short(status)).to.deep.equal(["Ready=True/AllReady", "Conflict=False/NoConflict"]);
    expect(status.observedGeneration).to.equal(1);
  });

  it("has reasons that no terminal obeys, and that the CRD takes, whatever a node says of a mount", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.agent();
    world.change(world.intent("share").metadata.name, ({ status }) => {
      status.conditions = [{ type: "Ready", status: "False", reason: "Degraded", lastTransitionTime: "", message: "" }];
      for (const mount of status.mounts ?? [])
        Object.assign(mount, { state: "Absent", reason: `\u001b[2J\nReady${"\u202e".repeat(100)}` });
    });
    const { summary = "", failing = [] } = statusOf([world]);
    expect([summary, failing[0]?.reason].join()).to.match(/^[ -~…]+$/);
    expect(failing[0]?.reason).to.have.length(128);
    expect(summary.length).to.be.at.most(512);
  });

  it("goes through all Nodes only where no node has the volume", () => {
    let looks = 0;
    const count = () => {
      looks += 1;
    };
    statusOf(fleet(3), {}, "a", count);
    expect(looks).to.equal(0);
    statusOf(fleet(1, [setEntry("a", { spec: { nodeSelector: { no: "where" } } })]), {}, "a", count);
    expect(looks).to.equal(1);
  });

  it("no node: it is not ready, so that a mistyped label is seen, also of a set for pods alone", () => {
    for (const mounts of [undefined, []]) {
      const spec = { nodeSelector: { no: "where" }, ...(mounts && { mounts }) };
      const status = statusOf([oneNode([setEntry("a", { spec })])]);
      expect(short(status)).to.deep.equal([
        "Ready=False/NoNodesSelected",
        "Reconciling=True/NoNodesSelected",
        "Conflict=False/NoConflict",
      ]);
      expect(status).to.include({ desired: 0, summary: "NoNodesSelected" });
      expect(status.conditions?.[0]?.message).to.include("no Node is selected by spec.nodeSelector");
    }
  });

  it("no node but one that is cordoned: the message does not blame the selector", () => {
    for (const more of [{}, { mounts: [] }]) {
      const world = oneNode([setEntry("a", { spec: { drainPolicy: "Release", ...more } })]);
      if (world.node === undefined) throw new Error("no node");
      expect(short(statusOf([world]))?.[0]).to.not.include("NoNodesSelected");
      world.node = { ...world.node, unschedulable: true };
      const [ready] = statusOf([world]).conditions ?? [];
      expect(ready).to.include({ status: "False", reason: "NoNodesSelected" });
      expect(ready?.message).to.match(/^each Node that .* select is cordoned, .*drainPolicy/);
    }
  });

  it("no mount, on nodes that it selects", () => {
    const podsOnly = oneNode([setEntry("a", { spec: { mounts: [] } })]);
    expect(short(statusOf([podsOnly]))?.[0]).to.equal("Ready=True/NoConsumers");
    expect(statusOf([podsOnly])).to.include({ desired: 0, summary: "NoConsumers" });
  });

  it("one look: the reason, and the first node that it comes from", () => {
    const worlds = fleet(5);
    expect(statusOf(worlds).summary).to.equal("AllReady");
    report(worlds[0], "Ready", "False", "Progressing", "mount");
    expect(statusOf(worlds).summary).to.equal("Progressing on n0");
    report(worlds[1], "Ready", "False", "ServerUnreachable", "no answer");
    expect(statusOf(worlds).summary, "what is on its way comes last").to.equal("ServerUnreachable on n1");
    report(worlds[2], "Ready", "False", "ServerUnreachable", "no answer");
    expect(statusOf(worlds).summary).to.equal("ServerUnreachable on n1 and 1 more");
    report(worlds[3], "Ready", "False", "SourceNotFound", "no /data/share");
    expect(statusOf(worlds).summary, "what needs somebody comes first").to.equal("SourceNotFound on n3");
    for (const world of worlds) world.sets = [setEntry("a", { deleted: true })];
    expect(statusOf(worlds).summary).to.equal("Deleting");
  });

  it("nothing is written yet, and nothing is observed yet", () => {
    const fresh = oneNode([setEntry("a")]);
    expect(short(statusOf([fresh]))).to.deep.equal([
      "Ready=False/NodesNotReady",
      "Reconciling=True/RollingOut",
      "Conflict=False/NoConflict",
    ]);
    fresh.settle();
    const status = statusOf([fresh]);
    expect(countsOf(status)).to.deep.equal([1, 1, 0, 0, 0, 0]);
    expect(status.failing, "nothing stands in its way").to.deep.equal([]);
    expect(status.conditions?.[0]?.message).to.contain("n1: NotObserved");
    expect(short(status)?.[1]).to.equal("Reconciling=True/NodesNotReady");
  });

  it("counts failed and drifted nodes, names the worst first and at most ten", () => {
    const worlds = fleet(13);
    report(worlds[0], "Ready", "False", "TargetBusy", "pid 7");
    for (const world of worlds.slice(2)) report(world, "Ready", "False", "SourceNotFound", "no /data/share");
    const drifting = worlds[1]?.intents()[0];
    worlds[1]?.change(drifting?.metadata.name ?? "", (i) => {
      i.status.drift = { class: "Missing", message: "m", since: "2024-01-01T00:00:00Z" };
    });
    const status = statusOf(worlds);
    expect(countsOf(status)).to.deep.equal([13, 13, 1, 1, 0, 11]);
    expect(status.failing).to.have.length(10);
    expect(status.failing?.[0]).to.deep.equal({ node: "n10", reason: "SourceNotFound", message: "no /data/share" });
    expect(status.conditions?.[0]?.message).to.equal(
      "ready on 1 of 13 nodes, newest spec on 13; n10: SourceNotFound: no /data/share",
    );
  });

  it("a conflict names the other set, what that one wants, and a node", () => {
    const worlds = fleet(2, [
      setEntry("a"),
      setEntry("b", {
        spec: { volume: { source: { emptyDir: {} } }, mounts: [{ name: "m", path: "/mnt/nodevolume/a/x" }] },
      }),
    ]);
    const status = statusOf(worlds);
    expect(short(status)).to.deep.equal(["Ready=False/Conflict", "Stalled=True/Conflict", "Conflict=True/Conflict"]);
    expect(status).to.include({ conflict: 2, summary: "Conflict on n0 and 1 more" });
    expect(status.conditions?.[2]?.message).to.equal(
      "set b uses /mnt/nodevolume/a/x, beneath /mnt/nodevolume/a, on node n0 and 1 more",
    );
    expect(statusOf(worlds, {}, "b").conditions?.[2]?.message).to.contain(
      "set a uses /mnt/nodevolume/a, above /mnt/nodevolume/a/x",
    );
    const taken = { volume: { source: { emptyDir: {} } }, mounts: [{ name: "m", path: "/mnt/nodevolume/a" }] };
    const same = statusOf(fleet(1, [setEntry("a"), setEntry("b", { spec: taken })]));
    expect(same.conditions?.[2]?.message).to.equal("set b uses /mnt/nodevolume/a, too, on node n0");
  });

  it("a path that is not allowed counts as failed, although nothing is written", () => {
    const world = oneNode([setEntry("a", { spec: { mounts: [{ name: "m", path: "/etc/x" }] } })]);
    const status = statusOf([world]);
    expect(world.settle()).to.deep.equal([]);
    expect(countsOf(status)).to.deep.equal([1, 0, 0, 0, 0, 1]);
    expect(status.failing?.[0]?.reason).to.equal("PathNotAllowed");
  });

  it("a write that the API server refuses is reported", () => {
    const world = oneNode([setEntry("a"), setEntry("b", { spec: { volume: { source: { emptyDir: {} } } } })]);
    const refused = world.setsOnNode().get("a")?.wanted?.intentName;
    if (refused !== undefined) world.refusals.set(refused, "spec.mounts: too funny");
    expect(statusOf([world]).failing).to.deep.equal([
      { node: "n1", reason: "Invalid", message: "spec.mounts: too funny" },
    ]);
    expect(statusOf([world], {}, "b").failing, "it has nothing to do with it").to.deep.equal([]);
  });

  it("a rollout under way, and one that is paused", () => {
    const worlds = fleet(3);
    const changed = setEntry("a", { generation: 2, spec: { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] } });
    for (const world of worlds) world.sets = [changed];
    worlds[0]?.settle();
    expect(short(statusOf(worlds))?.[1]).to.equal("Reconciling=True/RollingOut");
    report(worlds[0], "Ready", "False", "ForeignMount", "something else is there");
    const status = statusOf(worlds);
    expect(short(status)?.[1]).to.equal("Stalled=True/RolloutPaused");
    expect(status.conditions?.[1]?.message).to.equal(
      "2 nodes left with an older spec, because of n0: ForeignMount: something else is there",
    );
    expect(status.observedGeneration).to.equal(2);
  });

  it("a suspended set that is not ready says so", () => {
    const worlds = fleet(1, [setEntry("a", { spec: { suspend: true } })]);
    report(worlds[0], "Ready", "False", "Suspended", "m");
    expect(short(statusOf(worlds))?.[0]).to.equal("Ready=False/Suspended");
    expect(statusOf(worlds).summary).to.equal("Suspended");
  });

  it("a set that is not understood says which field", () => {
    const worlds = fleet(1);
    for (const world of worlds) world.sets = [setEntry("a", { spec: { future: true } as object })];
    expect(statusOf(worlds).summary).to.equal("Invalid");
    const [ready, stalled] = statusOf(worlds).conditions ?? [];
    expect(ready).to.deep.include({ status: "False", reason: "Invalid" });
    expect(ready?.message).to.contain(".spec.future");
    expect(stalled).to.deep.include({ type: "Stalled", status: "True", reason: "Invalid", message: ready?.message });
  });

  it("a set with an option that the API server lets in and nobody allows is stalled, and nothing is written", () => {
    const nfs = { server: "10.0.0.1", path: "/a" };
    const volume = { source: { nfs }, mountOptions: ["hard", "context=system_u:object_r:tmp_t:s0"] };
    const world = oneNode([setEntry("a", { spec: { volume } })]);
    const status = statusOf([world]);
    expect(world.settle()).to.deep.equal([]);
    expect(short(status)?.slice(0, 2)).to.deep.equal(["Ready=False/Invalid", "Stalled=True/Invalid"]);
    expect(status.conditions?.[1]?.message).to.match(
      /^\.spec\.volume\.mountOptions: each of mountOptions must be one option that is allowed for NFS: .*what is mounted stays as it is$/,
    );
  });

  it("a set that is being deleted says what is left", () => {
    const worlds = fleet(1);
    for (const world of worlds) world.sets = [setEntry("a", { deleted: true })];
    const status = statusOf(worlds);
    expect(short(status)).to.deep.equal(["Ready=False/Deleting", "Reconciling=True/Deleting"]);
    expect(status.conditions?.[0]?.message).to.equal("2 nodes have not released the volume yet; no Node any more: n7");
  });

  it("is the same for the same input, and keeps the time of what has not changed", () => {
    const worlds = fleet(2);
    const first = statusOf(worlds);
    const stored = {
      ...first,
      conditions: first.conditions?.map((c) => ({ ...c, lastTransitionTime: "2020-01-01T00:00:00Z" })),
    };
    const second = statusOf(worlds, stored as NodeVolumeSetStatus);
    expect(sameJson(stored as NodeVolumeSetStatus, second)).to.equal(true);
    report(worlds[0], "Ready", "False", "SourceNotFound", "m");
    const third = statusOf(worlds, stored as NodeVolumeSetStatus);
    expect(third.conditions?.map((c) => `${c.type} ${c.lastTransitionTime.slice(0, 4)}`)).to.deep.equal([
      "Ready 2023",
      "Stalled 2023",
      "Conflict 2020",
    ]);
  });
});

describe("setStatus, as kstatus reads it", () => {
  const settled = (worlds: OneNode[]) => {
    const [entry] = worlds[0]?.sets ?? [];
    return kstatus({ metadata: { ...entry?.metadata }, status: statusOf(worlds) });
  };

  it("is Current when all is ready", () => {
    expect(settled(fleet(2))).to.equal("Current");
  });

  it("is InProgress while it rolls out, and while nodes wait for something", () => {
    expect(settled([oneNode([setEntry("a")])])).to.equal("InProgress");
    const worlds = fleet(2);
    report(worlds[0], "Ready", "False", "ServerUnreachable", "m");
    expect(settled(worlds)).to.equal("InProgress");
  });

  it("is InProgress while no node is selected", () => {
    expect(settled([oneNode([setEntry("a", { spec: { nodeSelector: { no: "where" } } })])])).to.equal("InProgress");
  });

  it("is Failed when somebody must change something", () => {
    const blocked = fleet(2);
    report(blocked[1], "Ready", "False", "SourceNotFound", "no /data/share");
    expect(settled(blocked)).to.equal("Failed");
    const stalled = statusOf(blocked).conditions?.find(({ type }) => type === "Stalled");
    expect(stalled).to.include({ reason: "SourceNotFound", message: "n1: no /data/share" });
    expect(settled([oneNode([setEntry("a", { spec: { mounts: [{ name: "m", path: "/etc/x" }] } })])])).to.equal(
      "Failed",
    );
    const invalid = fleet(1);
    for (const world of invalid) world.sets = [setEntry("a", { spec: { future: true } as object })];
    expect(settled(invalid)).to.equal("Failed");
    expect(
      settled(
        fleet(1, [
          setEntry("a"),
          setEntry("b", {
            spec: { volume: { source: { emptyDir: {} } }, mounts: [{ name: "m", path: "/mnt/nodevolume/a/x" }] },
          }),
        ]),
      ),
    ).to.equal("Failed");
  });

  it("is InProgress when the set has just been corrected, though nodes fail with what they have", () => {
    const worlds = fleet(2);
    for (const world of worlds) report(world, "Ready", "False", "SourceNotFound", "no /data/share");
    const corrected = setEntry("a", { generation: 2, spec: { volume: { source: { emptyDir: {} } } } });
    for (const world of worlds) world.sets = [corrected];
    expect(settled(worlds)).to.equal("InProgress");
  });

  it("is Terminating while it is being deleted", () => {
    const worlds = fleet(1);
    for (const world of worlds) world.sets = [setEntry("a", { deleted: true })];
    expect(settled(worlds)).to.equal("Terminating");
  });
});

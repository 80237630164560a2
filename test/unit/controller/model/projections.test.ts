import { expect } from "chai";
import { projectIntent, projectNode, projectSet, projectState } from "../../../../src/controller/model/projections.ts";
import { rawNode, rawSet } from "../objects.ts";

describe("projections", () => {
  it("projectNode keeps what is decided by", () => {
    const taints = [{ key: "k", effect: "NoExecute" }];
    const raw = rawNode("n", { labels: { a: "b" }, taints, unschedulable: true, ready: false, bootID: "x" });
    expect(
      projectNode({ ...raw, metadata: { ...raw.metadata, managedFields: [{}], annotations: { x: "y" } } }),
    ).to.deep.equal({
      metadata: { name: "n", uid: "uid-n", resourceVersion: "1", labels: { a: "b" } },
      taints: [{ key: "k", value: "", effect: "NoExecute" }],
      readiness: { tainted: false, condition: undefined },
      unschedulable: true,
      ready: false,
      bootID: "x",
      attachesItself: false,
    });
  });

  for (const [value, expected] of [
    ["false", true],
    ["true", false],
    ["", false],
    ["False", false],
  ] as const) {
    it(`projectNode takes the word of who says that nothing attaches to it, and no other: "${value}"`, () => {
      const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": value };
      const { metadata, ...raw } = rawNode("n");
      expect(projectNode({ ...raw, metadata: { ...metadata, annotations } })?.attachesItself).to.equal(expected);
    });
  }

  it("projectNode keeps what we show there ourselves apart from what is decided by", () => {
    const raw = rawNode("n", { taints: [{ key: "nodevolume.dev/not-ready", effect: "NoSchedule" }] });
    raw.status.conditions.push({ type: "NodeVolumesReady", status: "False" });
    const { taints, readiness } = projectNode(raw) ?? {};
    const condition = { status: "False", reason: "", message: "" };
    expect({ taints, readiness }).to.deep.equal({ taints: [], readiness: { tainted: true, condition } });
  });

  it("projectNode copes with a Node that no kubelet has reported", () => {
    expect(projectNode({ metadata: { name: "n" } })).to.deep.include({ ready: false, bootID: "", taints: [] });
  });

  it("projectSet keeps a set that is not understood, and says why", () => {
    const raw = rawSet("a", { spec: { future: true } as object });
    const entry = projectSet(raw);
    expect(entry?.spec).to.equal(undefined);
    expect(entry?.invalid).to.contain(".spec.future");
    expect(entry?.metadata.name).to.equal("a");
  });

  it("projectSet fills in defaults, and a status of any kind makes no set invalid", () => {
    const entry = projectSet({ ...rawSet("a"), status: { nonsense: 1 } });
    expect(entry?.invalid).to.equal(undefined);
    expect(entry?.spec?.rollout).to.deep.equal({ maxUnavailable: 1, onFailure: "Pause" });
  });

  it("projectIntent leaves out what the agent says for people alone", () => {
    const decided = { state: "Mounted", inUse: true, mounts: [], conditions: [] };
    const history = Array(10).fill({ time: "2026-11-22T00:00:00Z", state: "Mounted", reason: "Mounted" });
    const status = {
      ...decided,
      history,
      plan: ["mount"],
      desiredMounts: 1,
      readyMounts: 1,
      stagingPath: "/s",
      devicePath: "/d",
    };
    expect(projectIntent({ metadata: { name: "n" }, spec: {}, status })?.status).to.deep.equal(decided);
  });

  it("what has no name is no object", () => {
    for (const project of [projectNode, projectIntent, projectState, projectSet]) {
      for (const raw of [undefined, null, 1, "x", [], {}, { metadata: {} }, { metadata: { name: 1 } }]) {
        expect(project(raw)).to.equal(undefined);
      }
    }
  });
});

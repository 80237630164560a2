import { expect } from "chai";
import { capacityPatch, claimGrowthPatch } from "../../../../src/controller/claims/expansion.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { projectClaim, projectPersistentVolume } from "../../../../src/controller/model/storage-objects.ts";

const gi = 2 ** 30;
const now = "2026-01-01T00:00:00Z";

const writes = { nodeName: "n0", source: {}, mounts: [{ readOnly: true }, { readOnly: false }] };

function growth(status: object, users: object[], specs: object[] = []): object | undefined {
  const claim = projectClaim({ metadata: { name: "c", namespace: "n" }, spec: {}, status });
  const volume = projectPersistentVolume({ metadata: { name: "pv" }, spec: { capacity: { storage: "2Gi" } } });
  if (claim === undefined || volume === undefined) throw new Error("no claim");
  const intents = users.map(
    (said, i) => ({ metadata: { name: "i" }, spec: { ...writes, ...specs[i] }, status: said }) as unknown as Intent,
  );
  return claimGrowthPatch(claim, volume, intents, now);
}

const pending = {
  capacity: { storage: "1Gi" },
  conditions: [
    { type: "FileSystemResizePending", status: "True" },
    { type: "Unused", status: "True" },
  ],
  allocatedResourceStatuses: { storage: "NodeResizePending" },
};
const reached = { capacityBytes: String(2 * gi) };
const infeasible = { expansion: { capacityBytes: String(2 * gi), reason: "ExpansionInfeasible", message: "no" } };

describe("the growth of a claim", () => {
  it("is done when every node has reached the size", () => {
    expect(growth(pending, [reached, reached])).to.deep.equal({
      capacity: { storage: "2Gi" },
      conditions: [{ type: "Unused", status: "True" }],
      allocatedResourceStatuses: null,
    });
  });
  const readers: readonly [string, object][] = [
    ["a source that is read-only", { source: { persistentVolumeClaim: { readOnly: true } } }],
    ["an inline source that is read-only", { source: { csi: { readOnly: true } } }],
    ["a grant to read", { grant: { csi: { readOnly: true } } }],
    ["mounts that only read", { mounts: [{ readOnly: true }] }],
    ["no mount", { mounts: [] }],
  ];
  for (const [title, spec] of readers) {
    it(`waits for no node that cannot grow it, by ${title}; where there is no other it is not done`, () => {
      expect(growth(pending, [reached, {}], [{}, spec])).to.deep.include({ capacity: { storage: "2Gi" } });
      expect(growth(pending, [{}], [spec])).to.equal(undefined);
    });
  }
  it("leaves what is said of other resources", () => {
    const allocatedResourceStatuses = { storage: "NodeResizePending", other: "X" };
    const patch = growth({ ...pending, allocatedResourceStatuses }, [reached]);
    expect(patch).to.deep.include({ allocatedResourceStatuses: { storage: null } });
  });
  const nothing: readonly [string, object, object[]][] = [
    ["while one node has not", pending, [reached, { capacityBytes: String(gi) }]],
    ["while one node says nothing", pending, [{}]],
    ["while nobody has the volume: kubelet's turn", pending, []],
    ["when the claim says so already", { capacity: { storage: "2Gi" } }, [reached]],
    [
      "when it was said to be infeasible",
      { ...pending, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } },
      [infeasible],
    ],
  ];
  for (const [title, status, users] of nothing) {
    it(`nothing ${title}`, () => expect(growth(status, users)).to.equal(undefined));
  }
  for (const bad of ["x", "", "-1", "1.5", "0x7fffffffffff"]) {
    it(`takes a node's size that is no number for none: ${JSON.stringify(bad)}`, () => {
      expect(growth(pending, [reached, { capacityBytes: bad }])).to.equal(undefined);
      const expansion = { ...infeasible.expansion, capacityBytes: bad };
      expect(growth(pending, [reached, { expansion }])).to.equal(undefined);
    });
  }
  it("shows a node's words bounded and without control characters", () => {
    const expansion = { ...infeasible.expansion, message: `a\u001b[31m\n${"x".repeat(2_000)}` };
    const patch = growth(pending, [{ expansion }]) as { conditions: { type: string; message?: string }[] };
    const message = patch.conditions.find(({ type }) => type === "NodeResizeError")?.message ?? "";
    expect(message)
      .to.match(/^node n0: a \[31m x+…$/)
      .and.have.length.below(1_001);
  });
  it("says that a node cannot", () => {
    const error = { type: "NodeResizeError", status: "True", lastTransitionTime: now, message: "node n0: no" };
    expect(growth(pending, [infeasible])).to.deep.equal({
      conditions: [...pending.conditions, error],
      allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
    });
  });
  for (const reason of ["VolumeInUse", "DriverFailed", "DriverReplyFalse"]) {
    const failed = { expansion: { ...infeasible.expansion, reason, message: "the pool is sick" } };
    it(`says that a node has failed, which is no end of it: ${reason}`, () => {
      const message = "node n0: the pool is sick";
      const error = { type: "NodeResizeError", status: "True", lastTransitionTime: now, message };
      expect(growth(pending, [{}, failed])).to.deep.equal({
        conditions: [...pending.conditions, error],
        allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
      });
      // A resizer from before 1.31 keeps no such list, and kubelet makes none.
      const { allocatedResourceStatuses: _, ...old } = pending;
      expect(growth(old, [failed])).to.deep.equal({ conditions: [...pending.conditions, error] });
    });
    it(`says it once, and that it is infeasible all the same later: ${reason}`, () => {
      const conditions = [{ type: "NodeResizeError", status: "True", message: "node n0: the first time" }];
      const said = { ...pending, conditions, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } };
      expect(growth(said, [failed])).to.equal(undefined);
      expect(growth(said, [failed, infeasible])).to.deep.include({
        allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
      });
      expect(growth(said, [reached])).to.deep.include({ conditions: [], capacity: { storage: "2Gi" } });
    });
  }
  for (const reason of ["Progressing", "DriverUnavailable", "TimedOut", "DriverBusy", "NoWritableMount", ""]) {
    it(`says nothing of what may still go well: ${reason || "no reason"}`, () => {
      expect(growth(pending, [{ expansion: { ...infeasible.expansion, reason } }])).to.equal(undefined);
    });
  }
  it("says nothing of a failure with a smaller size than the one that is wanted", () => {
    const expansion = { capacityBytes: String(gi), reason: "DriverFailed", message: "no" };
    expect(growth(pending, [{ expansion }])).to.equal(undefined);
  });
});

describe("the size that a node is told", () => {
  const told = (capacityBytes: string | undefined, wanted: string | undefined, grant: object | undefined = {}) =>
    capacityPatch({ metadata: { name: "i" }, spec: { capacityBytes, grant } } as unknown as Intent, wanted);

  it("grows and never shrinks, by numbers beyond what a float holds", () => {
    expect(told("9007199254740992", "9007199254740993")).to.deep.equal({ spec: { capacityBytes: "9007199254740993" } });
    expect(told(undefined, "1")).to.deep.equal({ spec: { capacityBytes: "1" } });
    expect(told("2", "1")).to.equal(undefined);
    expect(told("2", "2")).to.equal(undefined);
    expect(told("2", undefined)).to.equal(undefined);
  });
  it("is told with the grant", () => {
    expect(capacityPatch({ metadata: { name: "i" }, spec: {} } as unknown as Intent, "1")).to.equal(undefined);
  });
});

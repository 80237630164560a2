import { expect } from "chai";
import { readCRDs, type Schema, schemaOf } from "../../../hack/lib/crds.ts";
import {
  type ConditionInput,
  cut,
  findCondition,
  mergeConditions,
  settlingOf,
  timestamp,
} from "../../../src/api/conditions.ts";
import { type Reason, reasons } from "../../../src/api/reasons.ts";

const now = Date.UTC(2026, 10, 21, 15, 30, 12, 999);
const before = Date.UTC(2026, 0, 1);
const ready = (status: ConditionInput["status"], reason: ConditionInput["reason"] = "Mounted"): ConditionInput => ({
  type: "Ready",
  status,
  reason,
  message: "m",
});

describe("settlingOf", () => {
  const of = (input: ConditionInput) =>
    settlingOf(input).map(({ type, status, reason }) => `${type}=${status}/${reason}`);

  it("says nothing beside a Ready that is True", () => {
    expect(of(ready("True", "NoConsumers"))).to.deep.equal([]);
  });

  it("says Stalled if somebody must change something, Reconciling if it may go on without", () => {
    for (const reason of Object.keys(reasons) as Reason[]) {
      const { kind } = reasons[reason];
      const expected = { blocked: [`Stalled=True/${reason}`], waiting: [`Reconciling=True/${reason}`], normal: [] }[
        kind
      ];
      expect(of(ready("False", reason)), reason).to.deep.equal(expected);
    }
  });
});

describe("mergeConditions", () => {
  it("dates a condition that is new", () => {
    expect(mergeConditions(undefined, [ready("True")], 3, now)).to.deep.equal([
      {
        type: "Ready",
        status: "True",
        observedGeneration: 3,
        lastTransitionTime: "2026-11-21T15:30:12Z",
        reason: "Mounted",
        message: "m",
      },
    ]);
  });

  it("keeps the date while the status stays, whatever else changes", () => {
    const first = mergeConditions([], [ready("False", "Progressing")], 1, before);
    const [second] = mergeConditions(first, [{ ...ready("False", "TargetBusy"), message: "other" }], 2, now);
    expect(second).to.include({ lastTransitionTime: "2026-01-01T00:00:00Z", reason: "TargetBusy", message: "other" });
    expect(second?.observedGeneration).to.equal(2);
  });

  it("moves the date when the status changes", () => {
    const first = mergeConditions([], [ready("False", "Progressing")], 1, before);
    expect(mergeConditions(first, [ready("True")], 1, now)[0]?.lastTransitionTime).to.equal("2026-11-21T15:30:12Z");
    expect(mergeConditions(first, [ready("Unknown")], 1, now)[0]?.lastTransitionTime).to.equal("2026-11-21T15:30:12Z");
  });

  it("drops a condition that is not wanted any more and keeps the order of those that are", () => {
    const drifted: ConditionInput = { type: "Drifted", status: "False", reason: "Mounted", message: "" };
    const first = mergeConditions([], [ready("True"), drifted], 1, before);
    expect(mergeConditions(first, [ready("True")], 1, now).map(({ type }) => type)).to.deep.equal(["Ready"]);
    expect(mergeConditions(first, [drifted, ready("True")], 1, now).map(({ type }) => type)).to.deep.equal([
      "Drifted",
      "Ready",
    ]);
  });

  it("gives the same conditions when nothing changes, and leaves the previous ones as they are", () => {
    const first = mergeConditions([], [ready("True")], 1, before);
    const copy = structuredClone(first);
    expect(mergeConditions(first, [ready("True")], 1, now)).to.deep.equal(first);
    expect(first).to.deep.equal(copy);
  });

  it("makes conditions that the CRDs take", () => {
    const condition = ["status", "conditions", "items"].reduce(
      (node, name) => (name === "items" ? (node["items"] as Schema) : fields(node)[name]) ?? {},
      schemaOf(readCRDs().get("NodeVolumeIntent") ?? {}),
    );
    const { reason, message } = fields(condition);
    const pattern = new RegExp(String(reason?.["pattern"]));
    for (const code of Object.keys(reasons)) {
      expect(code).to.match(pattern);
      expect(code.length).to.be.at.most(Number(reason?.["maxLength"]));
    }
    const [long] = mergeConditions([], [{ ...ready("True"), message: "é".repeat(3000) }], 1, now);
    expect(long?.message.length).to.equal(Number(message?.["maxLength"]));
  });
});

describe("cut", () => {
  for (const [text, max, expected] of [
    ["", 3, ""],
    ["abc", 3, "abc"],
    ["abcd", 3, "ab…"],
    ["abcd", 1, "…"],
  ] as const) {
    it(`makes ${JSON.stringify(text)} at most ${max} characters long`, () => expect(cut(text, max)).to.equal(expected));
  }

  it("does not leave half a character behind", () => {
    expect(cut("a💾💾", 3).isWellFormed()).to.equal(true);
  });
});

describe("timestamp", () => {
  it("is metav1.Time: whole seconds, UTC", () => {
    expect(timestamp(0)).to.equal("1970-01-01T00:00:00Z");
    expect(timestamp(now)).to.equal("2026-11-21T15:30:12Z");
  });
});

describe("findCondition", () => {
  const conditions = mergeConditions([], [ready("True")], 1, now);
  it("finds a condition by its type", () => {
    expect(findCondition(conditions, "Ready")).to.equal(conditions[0]);
    expect(findCondition(conditions, "Drifted")).to.equal(undefined);
    expect(findCondition(undefined, "Ready")).to.equal(undefined);
  });
});

function fields(node: Schema): { [name: string]: Schema } {
  return (node["properties"] ?? {}) as { [name: string]: Schema };
}

import { expect } from "chai";
import { paceMs, rateLimit } from "../../../../src/agent/loop.ts";
import { asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";

const stages = (count: number): Operation[] =>
  Array.from({ length: count }, (_, i) => ({ volume: asVolumeName(`s${i}`), kind: "stage" }));
const publish: Operation = { volume: asVolumeName("p"), kind: "publish", path: asMountPath("/p") };
const running = (count: number, at: number) => Array.from({ length: count }, () => at);

describe("paced", () => {
  it("begins everything at once if it is not much", () => {
    const operations = [...stages(20), publish];
    expect(rateLimit(operations, running(5, 1_000), 1_001)).to.equal(operations);
  });

  it("begins some of many, volumes that are under way before others, these in their order", () => {
    const begun = rateLimit([...stages(100), publish], [], 1_000);
    expect(begun).to.have.length(32);
    expect(begun[0]).to.equal(publish);
    expect(begun.slice(1).map(({ volume }) => volume)).to.deep.equal(stages(31).map(({ volume }) => volume));
  });

  it("begins as many more as have ended", () => {
    expect(rateLimit(stages(100), running(30, 1_000), 1_010)).to.have.length(2);
    expect(rateLimit(stages(100), running(40, 1_000), 1_010)).to.have.length(0);
  });

  it("does not wait for what takes long (law L4)", () => {
    expect(rateLimit(stages(100), running(500, 1_000), 1_000 + paceMs)).to.have.length(32);
  });
});

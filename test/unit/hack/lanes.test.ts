import { expect } from "chai";
import { parseExpectedSkips, unexpectedSkips } from "../../../hack/lib/lanes/expected-skips.ts";
import { lanes, minutesOf } from "../../../hack/lib/lanes/lanes.ts";
import { closingLine, type TestResult, total } from "../../../hack/lib/lanes/results.ts";
import { summaryOf } from "../../../hack/lib/lanes/summary.ts";

const result = (lane: string, title: string, outcome: TestResult["outcome"], reason = ""): TestResult => {
  return { lane, title, outcome, ms: 1, reason };
};

describe("lanes", () => {
  it("parseExpectedSkips reads lane, title and reason, and passes over comments", () => {
    const text = "# why\n\nreal | nfs mounts* | the kernel has no nfs4\n";
    expect(parseExpectedSkips(text)).to.deep.equal([
      { lane: "real", title: "nfs mounts*", reason: "the kernel has no nfs4" },
    ]);
  });

  it("parseExpectedSkips names the line that it cannot read", () => {
    expect(() => parseExpectedSkips("# x\nreal | no reason")).to.throw("test/expected-skips.txt:2");
  });

  it("unexpectedSkips are those that no line covers, by lane and whole title or beginning", () => {
    const expected = parseExpectedSkips("real | a b | x\nreal | c* | x");
    const results = [
      result("real", "a b", "skipped"),
      result("real", "a b c", "skipped"),
      result("real", "c d", "skipped"),
      result("unit", "a b", "skipped"),
      result("real", "e", "passed"),
    ];
    expect(unexpectedSkips(results, expected).map((r) => `${r.lane} ${r.title}`)).to.deep.equal([
      "real a b c",
      "unit a b",
    ]);
  });

  it("the summary names each skip and failure, and ends with the totals alone on a line", () => {
    const skip = result("real", "nfs", "skipped", "the kernel has no nfs4");
    const results = [result("unit", "a", "passed"), result("unit", "b", "failed", "no\nstack"), skip];
    const lines = summaryOf(results, { seconds: new Map([["unit", 1.25]]), surprises: [skip] })
      .trimEnd()
      .split("\n");
    expect(lines.at(-1)).to.equal("1 passed, 1 failed, 1 skipped");
    expect(lines).to.include("skipped (unexpected)  real: nfs: the kernel has no nfs4");
    expect(lines).to.include("FAILED  unit: b: no stack");
  });

  it("minutesOf gives a lane longer with --full, and never less", () => {
    const work = { kind: "command", command: ["true"] } as const;
    expect(minutesOf({ name: "x", what: "x", work, limitMinutes: 5, fullMinutes: 60 }, true)).to.equal(60);
    expect(minutesOf({ name: "x", what: "x", work, limitMinutes: 5, fullMinutes: 60 }, false)).to.equal(5);
    expect(minutesOf({ name: "x", what: "x", work, limitMinutes: 5 }, true)).to.equal(5);
    for (const lane of lanes) expect(minutesOf(lane, true), lane.name).to.be.at.least(minutesOf(lane, false));
  });

  it("closingLine counts nothing as nothing", () => {
    expect(closingLine(total([]))).to.equal("0 passed, 0 failed, 0 skipped");
  });
});

import { expect } from "chai";
import { parseExpectedSkips, unexpectedSkips } from "../../../hack/lib/lanes/expected-skips.ts";
import { failureReason } from "../../../hack/lib/lanes/failure-reason.ts";
import { lanes, minutesOf } from "../../../hack/lib/lanes/lanes.ts";
import { closingLine, type TestResult, total } from "../../../hack/lib/lanes/results.ts";
import { summaryOf } from "../../../hack/lib/lanes/summary.ts";
import { StepError } from "../../../hack/lib/process.ts";
import { root } from "../../../hack/lib/root.ts";

const result = (lane: string, title: string, outcome: TestResult["outcome"], reason = ""): TestResult => {
  return { lane, title, outcome, ms: 1, reason };
};

function failuresIn(results: readonly TestResult[]): string[] {
  const summary = summaryOf(results, { seconds: new Map(), surprises: [] });
  return summary.slice(0, summary.indexOf("\n\n")).split("\n");
}

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
    expect(lines).to.include("FAILED  unit: b: no");
    expect(lines).to.include("        stack");
  });

  it("the summary has the first lines of each failure's message", () => {
    const reason = ["waited 180 s for 2 pods", "", ...Array.from({ length: 20 }, (_, at) => `line ${at}`)].join("\n");
    const lines = failuresIn([result("e2e", "pods", "failed", reason)]);
    expect(lines[0]).to.equal("FAILED  e2e: pods: waited 180 s for 2 pods");
    expect(lines.slice(1)).to.deep.equal(Array.from({ length: 11 }, (_, at) => `        line ${at}`));
  });

  it("the summary has room for each failure's first line, and leaves what CI keeps of its output", () => {
    const reason = Array.from({ length: 30 }, () => "x".repeat(1_000)).join("\n");
    const one = (title: string) => result("e2e", title, "failed", reason);
    expect(failuresIn([one("a")]).join("\n")).to.have.lengthOf.within(1_500, 3_000);
    const three = failuresIn([one("a"), one("b"), one("c")]);
    expect(three.filter((line) => line.startsWith("FAILED"))).to.have.lengthOf(3);
    expect(three.join("\n")).to.have.lengthOf.within(1_500, 3_000);
  });

  it("failureReason is the message, where a test met it, and the end of a program's log", () => {
    const error = new StepError("kubelet exited with 1", { details: ["why", "it did"], remedy: "look" });
    const [first = "", ...rest] = failureReason(error).split("\n");
    expect(first).to.match(/^kubelet exited with 1 \(test\/unit\/hack\/lanes\.test\.ts:\d+\)$/);
    expect(rest).to.deep.equal(["why", "it did"]);
    error.stack = `StepError: x\n    at f (${root}/hack/a.ts:1:2)\n    at async Context.<anonymous> (file://${root}/test/b.test.ts:3:4)\n`;
    expect(failureReason(error)).to.match(/^kubelet exited with 1 \(test\/b\.test\.ts:3\)\n/);
    error.stack = "";
    expect(failureReason(error)).to.match(/^kubelet exited with 1\n/);
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

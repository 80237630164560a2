import { expect } from "chai";
import type { Lane } from "../../../hack/lib/lanes/lanes.ts";
import type { TestResult } from "../../../hack/lib/lanes/results.ts";
import { type Again, toTryAgain, verdictOf } from "../../../hack/lib/lanes/second-try.ts";
import { flakyLine } from "../../../hack/lib/lanes/summary.ts";

const lane = (name: string, more: Partial<Lane> = {}): Lane => {
  return { name, what: name, work: { kind: "tests", files: "" }, limitMinutes: 1, ...more };
};
const lanes = [lane("real", { secondTry: true }), lane("unit")];
const longest = 10_000;

const test = (title: string, outcome: TestResult["outcome"], more: Partial<TestResult> = {}): TestResult => {
  return { lane: "real", title, outcome, ms: 1, file: "test/real/a.test.ts", ...more };
};

/** The whole way, with what each second run of a file comes to. */
function run(first: readonly TestResult[], second: (again: Again) => TestResult[]) {
  const tried = toTryAgain(first, lanes, longest);
  const { results, flaky } = verdictOf(first, tried, tried.map(second), longest);
  return {
    tried: tried.map(({ file, tests }) => [file, ...tests.map(({ title }) => title)]),
    results: results.map(({ title, outcome }) => `${title} ${outcome}`),
    flaky: flaky.map(flakyLine),
    reasons: results.filter(({ outcome }) => outcome === "failed").map(({ reason }) => reason),
  };
}

describe("a second try", () => {
  it("makes a test that fails once flaky, and the run green", () => {
    const first = [test("a", "passed"), test("b", "failed", { reason: "no answer\nmore" })];
    const { tried, results, flaky } = run(first, () => [test("a", "passed"), test("b", "passed")]);
    expect(tried).to.deep.equal([["test/real/a.test.ts", "b"]]);
    expect(results).to.deep.equal(["a passed", "b passed"]);
    expect(flaky).to.deep.equal(["FLAKY real | b | no answer"]);
  });

  it("leaves a test red that fails twice, or is not run again", () => {
    expect(run([test("b", "failed")], () => [test("b", "failed")]).results).to.deep.equal(["b failed"]);
    expect(run([test("b", "failed")], () => []).results).to.deep.equal(["b failed"]);
  });

  it("leaves the run red if anything else fails on it: a hook, or a process that is left behind", () => {
    const left = () => [test("b", "passed"), test("nothing is left behind", "failed")];
    expect(run([test("b", "failed")], left).results).to.deep.equal(["b failed", "nothing is left behind failed"]);
    const slow = run([test("a", "passed", { ms: 12_000 })], () => [test("a", "failed")]);
    expect(slow.results).to.deep.equal(["a passed", "a failed"]);
  });

  it("is red for three flaky tests, and green for two", () => {
    const failing = (titles: readonly string[]) => titles.map((title) => test(title, "failed"));
    const again = ({ tests }: Again) => tests.map(({ title }) => test(title, "passed"));
    expect(run(failing(["a", "b"]), again)).to.deep.include({ results: ["a passed", "b passed"] });
    const three = run(failing(["a", "b", "c"]), again);
    expect(three.results).to.deep.equal(["a passed", "b passed", "c passed", "at most 2 flaky tests failed"]);
    expect(three.flaky).to.have.lengthOf(3);
  });

  it("is not for a lane of decisions, nor for what is no test, nor for many failures", () => {
    const unit = test("u", "failed", { lane: "unit" });
    const again = ({ tests }: Again) => tests.map(({ title }) => test(title, "passed"));
    expect(run([unit], again)).to.deep.include({ tried: [], results: ["u failed"] });
    const { file: _, ...command } = test("nothing is left behind", "failed");
    expect(run([command, test("a", "failed")], again).tried).to.deep.equal([]);
    const many = Array.from({ length: 9 }, (__, at) => test(`t${at}`, "failed"));
    expect(run(many, again).tried).to.deep.equal([]);
  });

  it("of a hook that failed brings the tests that it kept from being run", () => {
    const first = [test("s a", "passed"), test('s "before all" hook for "b"', "failed", { hookOf: "s" })];
    const all = () => [test("s a", "passed"), test("s b", "passed"), test("s c", "passed")];
    expect(run(first, all).results).to.deep.equal(["s a passed", "s b passed", "s c passed"]);
    expect(run(first, all).flaky).to.have.lengthOf(1);
    const fails = () => [test("s a", "passed"), test("s b", "failed")];
    expect(run(first, fails).results).to.include.members(['s "before all" hook for "b" failed', "s b failed"]);
  });

  it("fails a test that is not marked as slow and took too long twice, not once", () => {
    const first = [test("a", "passed", { ms: 12_000 })];
    const twice = run(first, () => [test("a", "passed", { ms: 11_000 })]);
    expect(twice.results).to.deep.equal(["a failed"]);
    expect(twice.reasons[0]).to.match(/^took 12\.0 and 11\.0 s/);
    expect(twice.flaky).to.deep.equal([]);
    expect(run(first, () => [test("a", "passed", { ms: 2_000 })]).results).to.deep.equal(["a passed"]);
    expect(toTryAgain(first, lanes, undefined)).to.deep.equal([]);
    const marked = first.map((slow) => ({ ...slow, slow: true as const }));
    expect(toTryAgain(marked, lanes, longest)).to.deep.equal([]);
  });
});

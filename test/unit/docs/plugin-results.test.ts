import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { TestResult } from "../../../hack/lib/lanes/results.ts";
import { mergeResults, type PluginRow, renderResults } from "../../../hack/lib/plugin-results.ts";
import { root } from "../../../hack/lib/root.ts";
import { plugins } from "../../../src/plugins/registry.ts";
import { cases } from "../../contract/cases.ts";
import { points } from "../../contract/points.ts";

const rows = JSON.parse(readFileSync(join(root, "docs/plugin-results.json"), "utf8")) as PluginRow[];
/** What a driver does with them is the driver's: lane csi. */
const ofDrivers = ["csi", "persistentVolumeClaim"];
const remedy =
  "run npm test -- contract --grep 'plugin contract: TITLE' (or the lane vm, with --full), then node hack/plugin-results.ts";

describe("docs/plugin-results.md", () => {
  it("is what the data of the last runs says", () => {
    expect(readFileSync(join(root, "docs/plugin-results.md"), "utf8")).to.equal(renderResults(rows));
  });

  it("has every type of volume", () => {
    const types = new Set([...rows.map(({ type }) => type), ...ofDrivers]);
    expect(
      Object.keys(plugins).filter((type) => !types.has(type)),
      remedy,
    ).to.deep.equal([]);
  });

  it("has every case, not a type of it alone, and says from which run", () => {
    const titles = rows.map((row) => row.case);
    const missing = cases.map(({ title }) => title).filter((title) => !titles.includes(title));
    expect(missing, remedy).to.deep.equal([]);
    for (const { case: title, runs } of rows) {
      expect(runs, title).not.to.have.length(0);
      for (const run of runs) expect(run, title).to.match(/^20\d\d-[01]\d-[0-3]\d$/);
    }
  });

  it("has only cases and points that there are, and none that failed", () => {
    const titles = cases.map(({ title }) => title);
    expect(rows.map((row) => row.case).filter((title) => !titles.includes(title))).to.deep.equal([]);
    const names = points.map(({ name }) => name);
    for (const { case: title, points: of } of rows) {
      expect(
        Object.keys(of).filter((name) => !names.includes(name)),
        title,
      ).to.deep.equal([]);
      expect(
        Object.values(of).filter((said) => !said.startsWith("passed")),
        title,
      ).to.deep.equal([]);
    }
  });

  it("has every point of its rows that can be asked", () => {
    for (const { case: title, points: of } of rows) {
      const asked = points.filter(({ asks }) => {
        const found = cases.find((one) => one.title === title);
        return found !== undefined && (asks === undefined || asks(found));
      });
      expect(
        asked.map(({ name }) => name).filter((name) => of[name] === undefined),
        `${title}: ${remedy}`,
      ).to.deep.equal([]);
    }
  });
});

describe("mergeResults", () => {
  const note = (point: string, more: object = {}) => ({
    contract: { case: "a", type: "nfs", point, client: "mount.nfs 2", kernel: "Linux 6", ...more },
  });
  const result = (outcome: TestResult["outcome"], of: object): TestResult => {
    return { lane: "contract", title: "t", outcome, ms: 1, note: of };
  };

  const [day, later] = ["2024-12-31", "2025-01-01"];

  it("keeps what was not run again, takes what was, and leaves out what was skipped", () => {
    const first = mergeResults(
      [],
      [result("passed", note("x")), result("failed", note("y")), result("skipped", note("z"))],
      day,
    );
    const about = { case: "a", type: "nfs", client: "mount.nfs 2", kernel: "Linux 6" };
    expect(first).to.deep.equal([{ ...about, runs: [day], points: { x: "passed", y: "failed" } }]);
    const again = mergeResults(first, [result("passed", note("y", { how: "3 of 9" }))], later);
    expect(again).to.deep.equal([{ ...about, runs: [day, later], points: { x: "passed", y: "passed 3 of 9" } }]);
    expect(renderResults(again)).to.include(
      "| a | mount.nfs 2 | – | Linux 6 | 2024-12-31 to 2025-01-01 | ✓ | ✓ 3 of 9 |",
    );
  });

  it("is of one run again when every point was asked again, and of no earlier one", () => {
    const both = [result("passed", note("x")), result("passed", note("y"))];
    const [before] = mergeResults([], both, day);
    const mixed = mergeResults(before ? [before] : [], [result("passed", note("x"))], later);
    expect(mixed[0]?.runs).to.deep.equal([day, later]);
    const whole = mergeResults(mixed, both, later);
    expect(whole[0]?.runs).to.deep.equal([later]);
    expect(mergeResults(whole, [result("failed", note("x"))], day)).to.deep.equal(whole);
  });

  it("begins a row anew when it was made with something else", () => {
    const [before] = mergeResults([], [result("passed", note("x"))], day);
    const other = [result("passed", note("y", { kernel: "Linux 7" }))];
    const [after] = mergeResults(before ? [before] : [], other, later);
    expect(after).to.deep.include({ points: { y: "passed" }, runs: [later] });
  });
});

import { expect } from "chai";
import type { Judged } from "../../mutants/judge.ts";
import type { Seed } from "../../mutants/seed.ts";
import { isEnough, type Row, survivors, tableOf } from "../../mutants/table.ts";

const row = (name: string, judged?: Judged, more: Partial<Seed> = {}): Row => ({
  seed: { area: "planner", name, edits: [{ file: "src/a.ts", from: "a", to: "b" }], ...more },
  judged,
});
const caught = { by: "unit", what: "a test" } as const;

describe("table of faults", () => {
  it("counts who noticed, and names who survived", () => {
    const rows = [
      row("one", caught),
      row("two", { by: "sim", what: "a run", runs: 7 }, { removes: "L1" }),
      row("three", { what: "9 unit tests passed" }, { removes: "L2" }),
      row("four"),
    ];
    const lines = tableOf(rows);
    expect(lines).to.include("planner   2 of 3 noticed (66.6 %): unit 1, laws 0, real 0, sim 1; 1 not tried");
    expect(lines).to.include("laws and rules taken away: 1 of 2 noticed by the simulator");
    expect(lines).to.include("SURVIVED: src/a.ts: three (9 unit tests passed)");
    expect(lines.find((line) => line.endsWith("two"))).to.include("run 7");
    expect(survivors(rows).map(({ seed }) => seed.name)).to.deep.equal(["three"]);
  });

  it("has a reason for what is harmless, and counts it as not noticed", () => {
    const rows = [row("one", { what: "" }, { harmless: "the next look does the same" })];
    expect(survivors(rows)).to.deep.equal([]);
    expect(isEnough(rows)).to.equal(false);
  });

  it("is enough with 95 of 100 that were tried", () => {
    const of = (noticed: number) =>
      Array.from({ length: 100 }, (_, i) => row(String(i), i < noticed ? caught : { what: "" }));
    expect(isEnough([...of(95), row("not tried")])).to.equal(true);
    expect(isEnough(of(94))).to.equal(false);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { seeds } from "../../mutants/list.ts";
import { lawsToBreak } from "../../sim/mutations/breakers.ts";

describe("faults that are put into the product", () => {
  for (const { name, edits } of seeds) {
    it(`can be put in: ${name}`, () => {
      for (const { file, from, to } of edits) {
        expect(readFileSync(join(root, file), "utf8").split(from).length - 1, `${file}: ${from}`).to.equal(1);
        expect(to).not.to.equal(from);
      }
    });
  }

  it("are each another one", () => {
    const texts = seeds.map(({ edits }) => JSON.stringify(edits));
    expect(texts.filter((text, i) => texts.indexOf(text) !== i)).to.deep.equal([]);
    const names = seeds.map(({ name, edits }) => `${edits[0]?.file} ${name}`);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).to.deep.equal([]);
  });

  it("are a hundred and more, in planner, executor, journal and attach", () => {
    const parts = Map.groupBy(seeds, ({ area }) => area);
    const counts = (["planner", "executor", "journal", "attach"] as const).map((area) => parts.get(area)?.length ?? 0);
    expect(Math.min(...counts)).to.be.at.least(25);
  });

  it("have twelve bugs of kubelet and more among them, each with its issue", () => {
    const bugs = seeds.flatMap(({ kubelet }) => kubelet ?? []);
    expect(bugs).to.have.length.of.at.least(12);
    for (const bug of bugs) expect(bug).to.match(/^(#\d+ ?)+: ./);
  });

  it("take each law away, the acknowledgement rule and the lock of the agent", () => {
    const removed = new Set(seeds.flatMap(({ removes }) => removes ?? []));
    expect([...removed]).to.include.members([...lawsToBreak, "rule 3", "agent lock"]);
  });
});

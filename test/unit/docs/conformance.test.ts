import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { lanes } from "../../../hack/lib/lanes/lanes.ts";
import { root } from "../../../hack/lib/root.ts";
import { parseConformance } from "./conformance-doc.ts";
import { hasTitle } from "./test-titles.ts";

const behaviours = 122;
const longestSentence = 20;
const longestLine = 400;

describe("docs/conformance.md", () => {
  const text = readFileSync(join(root, "docs/conformance.md"), "utf8");
  const { rows, proofs, counts } = parseConformance(text);
  const withVerdict = (verdict: string, group?: string) =>
    rows.filter((row) => row.cells.verdict === verdict && (group === undefined || row.group === group));

  it("has a row for every behaviour, in order, none twice", () => {
    const wanted = Array.from({ length: behaviours }, (_, index) => index + 1);
    expect(rows.map(({ number }) => number)).to.deep.equal(wanted);
  });

  it("says of each one of three verdicts, and what kubelet does in a sentence", () => {
    for (const { number, cells } of rows) {
      expect(cells.verdict, `${number}`).to.be.oneOf(["matched", "improved", "not yet"]);
      expect(cells.kubelet.split(/\s+/).length, `${number}`).to.be.at.most(longestSentence);
    }
  });

  it("names a test for what is matched or improved, and none for what is not there", () => {
    const proved = new Set(proofs.map(({ number }) => number));
    const claimed = rows.filter(({ cells }) => cells.verdict !== "not yet").map(({ number }) => number);
    expect([...proved].sort((a, b) => a - b)).to.deep.equal(claimed);
  });

  it("says what is better where it is improved, and when it comes where it is not there", () => {
    for (const { number, cells } of withVerdict("improved")) expect(cells.here, `${number}`).not.to.equal("");
    for (const { number, cells } of withVerdict("not yet")) expect(cells.here, `${number}`).to.match(/^(#\d+|later)\b/);
  });

  for (const { number, lane, file, title } of proofs) {
    it(`${number}: ${lane}: ${file} has "${title}"`, () => {
      expect(lanes.find(({ name }) => name === lane)?.work.kind, `a lane of tests: ${lane}`).to.equal("tests");
      const path = join(root, "test", lane, file);
      expect(existsSync(path), path).to.equal(true);
      const isCorpus = (part: string) => existsSync(join(root, "test/corpus", `${part}.yaml`));
      expect(hasTitle(readFileSync(path, "utf8"), title, isCorpus), title).to.equal(true);
    });
  }

  it("counts right", () => {
    const groups = [...new Set(rows.map(({ group }) => group))];
    const count = (group: string | undefined) => {
      const numbers = rows.filter((row) => group === undefined || row.group === group).map(({ number }) => number);
      return {
        group: group ?? "all",
        range: `${numbers[0]}–${numbers.at(-1)}`,
        matched: withVerdict("matched", group).length,
        improved: withVerdict("improved", group).length,
        notYet: withVerdict("not yet", group).length,
      };
    };
    expect(counts).to.deep.equal([...groups.map(count), count(undefined)]);
  });

  it("has no line that nobody can read", () => {
    expect(text.split("\n").filter((line) => line.length > longestLine)).to.deep.equal([]);
  });
});

describe("hasTitle", () => {
  const source = `
    describe("a lane", () => {
      it("does one thing", () => {});
      it(\`does \${what} of \${count} "things"\`, () => {});
      for (const [given, verb] of [["the second"], ["the \\"third\\""]]) it(given, () => {});
    });`;

  it("finds a text, a table's entry, and a template whose parts are in the file or known", () => {
    expect(hasTitle(source, "does one thing")).to.equal(true);
    expect(hasTitle(source, "a lane does one thing")).to.equal(true);
    expect(hasTitle(source, "the second")).to.equal(true);
    const known = (part: string) => ["another", "2"].includes(part);
    expect(hasTitle(source, 'does another of 2 "things"', known)).to.equal(true);
  });

  it("finds nothing else", () => {
    for (const title of [
      "does one",
      "does one thing more",
      "a lane",
      "what",
      'does another of 2 "things"',
      "",
      "second",
    ]) {
      expect(hasTitle(source, title), title).to.equal(false);
    }
  });
});

describe("parseConformance", () => {
  it("refuses a row with a cell too many or too few, and a proof of another form", () => {
    for (const line of [
      "| 1 | a | b | matched |",
      "| 1 | a | b | matched | c | d |",
      "- 1: plan.test.ts",
      '- 1: unit: x "y"',
    ]) {
      expect(() => parseConformance(`## Group\n${line}`), line).to.throw("not a");
    }
  });
});

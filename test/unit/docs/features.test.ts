import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { linksOf } from "../../lib/docs/links.ts";
import { hasTitle } from "./test-titles.ts";

const text = readFileSync(join(root, "docs/comparison.md"), "utf8");
const [, table = ""] = /## Features of cluster tools\n([\s\S]*)/.exec(text) ?? [];
const rows = [...table.matchAll(/^\| (\d+) \| (.*) \| (.*) \|(.*)\|$/gm)].map(
  ([, number = "", feature = "", shown = "", outside = ""]) => ({ number, feature, shown, outside: outside.trim() }),
);

/** Quoted names of files, as such or in a command. */
function filesIn(cell: string): string[] {
  const quoted = [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code = ""]) => code.split(" "));
  return quoted.filter((word) => /^(\.github|config|crds|hack|src|test|Dockerfile|CHANGELOG)\b/.test(word));
}

describe("docs/comparison.md, the features of cluster tools", () => {
  it("are thirty, in order", () => {
    expect(rows.map(({ number }) => Number(number))).to.deep.equal(Array.from({ length: 30 }, (_, at) => at + 1));
  });

  for (const { number, feature, shown, outside } of rows) {
    it(`${number} ${feature}: names files that are there, and a test or the page whose commands are run`, () => {
      const missing = [...filesIn(shown), ...filesIn(outside)].filter((file) => !existsSync(join(root, file)));
      expect(missing).to.deep.equal([]);
      const tests = [...shown.matchAll(/`(test\/[\w./-]+)` \*([^*]+)\*/g)];
      expect(tests).not.to.be.empty;
      const untitled = tests.filter(
        ([, path = "", title = ""]) => !hasTitle(readFileSync(join(root, path), "utf8"), title),
      );
      expect(untitled.map(([whole]) => whole)).to.deep.equal([]);
      expect(filesIn(shown).length + linksOf(shown).length, "a file or page beside the test").to.be.greaterThan(0);
    });
  }

  it("have a rehearsal where something outside is needed, or what was tried on a page", () => {
    const without = rows.filter(({ outside }) => outside !== "" && !/Rehearsal|Each page lists/.test(outside));
    expect(without.map(({ feature }) => feature)).to.deep.equal([]);
    expect(rows.filter(({ outside }) => outside !== "").length).to.be.greaterThan(5);
  });
});

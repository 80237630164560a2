import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { hasTitle } from "./test-titles.ts";

const text = readFileSync(join(root, "docs/security.md"), "utf8");

/** What a cell names: files with the title of a test in each. */
function testsOf(cell: string): { readonly path: string; readonly title: string }[] {
  return [...cell.matchAll(/`(test\/[\w./-]+)` \*([^*]+)\*/g)].map(([, path = "", title = ""]) => ({ path, title }));
}

describe("docs/security.md", () => {
  const [, table = ""] = /## Threats, and what tries each\n([\s\S]*?)\n## /.exec(text) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| who does what"));

  it("has threats, each with what is in the way, and a test that is there", () => {
    expect(rows.length).to.be.greaterThan(25);
    const wrong = rows.flatMap((row) => {
      const [, threat = "", way = "", tried = "", ...more] = row.split("|").map((cell) => cell.trim());
      const tests = testsOf(tried);
      if (threat === "" || way === "" || tests.length === 0 || more.length !== 1) return [`${threat}: is not whole`];
      if (tests.length !== tried.split("<br>").length) return [`${threat}: names something else than tests`];
      return tests.filter(({ path, title }) => !isThere(path, title)).map(({ path, title }) => `${path}: ${title}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it("names no file that is not there", () => {
    const named = [...text.matchAll(/`((?:test|config|src|hack)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    expect(named.length).to.be.greaterThan(40);
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });
});

function isThere(path: string, title: string): boolean {
  const file = join(root, path);
  return existsSync(file) && hasTitle(readFileSync(file, "utf8"), title);
}

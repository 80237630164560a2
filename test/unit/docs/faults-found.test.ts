import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";

const text = readFileSync(join(root, "docs/faults-found.md"), "utf8");
const tests = new Set(
  globSync(["test/**/*.test.ts", "test/vm/guest/*.ts"], { cwd: root }).map((file) =>
    basename(file).replace(/(\.test)?\.ts$/, ""),
  ),
);

/** Rows of the table beneath a heading, without its own heading. */
function rowsOf(part: string): string[] {
  const lines = text.slice(text.indexOf(part)).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|---"));
  const rows = lines.slice(first + 1);
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith("|")),
  );
}

describe("docs/faults-found.md", () => {
  for (const [heading, least] of [
    ["# Faults that were found", 70],
    ["## By case", 25],
  ] as const) {
    it(`${heading}: each row ends with tests that are there`, () => {
      const rows = rowsOf(heading);
      expect(rows.length).to.be.at.least(least);
      const wrong = rows.flatMap((row) => {
        const last = row.split(" | ").at(-1) ?? "";
        const named = [...last.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name);
        if (named.length === 0) return [`${row.slice(0, 60)}: names no test`];
        return named.filter((name) => !tests.has(name)).map((name) => `${row.slice(0, 60)}: ${name}`);
      });
      expect(wrong).to.deep.equal([]);
    });
  }
});

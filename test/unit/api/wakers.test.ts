import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { type ReasonInfo, reasons } from "../../../src/api/reasons.ts";

/** Reasons by what ends their wait, as docs/reasons.md has it: a long list has several rows. */
function documented(): Map<string, string[]> {
  const text = readFileSync(join(root, "docs/reasons.md"), "utf8");
  const [, section = ""] = text.split("## What ends a wait\n");
  const rows = (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => /^\| [a-z]+ \| /.test(line));
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const [, by = "", , codes = ""] = row.split("|").map((cell) => cell.trim());
    found.set(by, [...(found.get(by) ?? []), ...codes.split(", ")]);
  }
  return found;
}

describe("what wakes a wait", () => {
  it("says of every reason that waits or is blocked what wakes it, and of no other", () => {
    for (const [code, { kind, wakers }] of Object.entries<ReasonInfo>(reasons)) {
      expect(wakers.length > 0, code).to.equal(kind !== "normal");
    }
  });

  it("is the one in docs/reasons.md", () => {
    const codes = new Map<string, string[]>();
    for (const [code, { wakers }] of Object.entries<ReasonInfo>(reasons)) {
      for (const waker of wakers) codes.set(waker, [...(codes.get(waker) ?? []), code]);
    }
    const sorted = (map: Map<string, string[]>) => [...map].map(([by, list]) => [by, [...list].sort()]).sort();
    expect(sorted(documented())).to.deep.equal(sorted(codes));
  });
});

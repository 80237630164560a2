import { expect } from "chai";
import { orphanColumns } from "../../../../src/cli/commands/orphans.ts";
import { table } from "../../../../src/cli/table.ts";

describe("kubectl nvi orphans", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const row = { node: "worker-1", kind: "Staging", path: "/p", reason: "LeftByKubelet", since: "2026-11-22T11:55:00Z" };
  const shown = (more: object, wide = false) =>
    table(orphanColumns(now), [{ ...row, ...more }], { wide, headers: false })
      .trim()
      .split(/ {3}/);

  it("says when each is removed, or that it is not, and then why", () => {
    expect(shown({ reapAt: "2026-11-22T12:25:00Z" }).at(-1)).to.equal("in 25m");
    expect(shown({ reapAt: "2026-11-22T11:59:59Z" }).at(-1)).to.equal("now");
    expect(shown({}).at(-1)).to.equal("no");
    const kept = "kubelet is at it itself";
    expect(shown({ keptBecause: kept }).at(-1)).to.equal("no");
    expect(shown({ keptBecause: kept }, true).at(-1)).to.equal(kept);
  });
});

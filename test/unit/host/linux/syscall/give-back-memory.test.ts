import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

describe("memoryReturner", () => {
  it("gives back most of what was let go, also from between what is kept", () => {
    const hog = fileURLToPath(new URL("../../../../lib/kernel/programs/memory-hog.ts", import.meta.url));
    const printed = execFileSync(process.execPath, [hog], { encoding: "utf8", env: { MALLOC_ARENA_MAX: "1" } });
    const { before, after, kept } = JSON.parse(printed) as { before: number; after: number; kept: number };
    expect(kept).to.equal(40);
    expect(before - after, "of some 80,000 KiB").to.be.greaterThan(60_000);
  });
});

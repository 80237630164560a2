import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Outcome } from "../../sim/pool/jobs.ts";
import { SeedLedger, type Wanted } from "../../sim/pool/ledger.ts";

const wanted: Wanted = { kind: "storm", first: 1, seeds: 25, size: 10 };
const outcome: Outcome = { runs: 10, pairs: 0, ms: 200, ledger: [], failures: ["why"], failed: 1, seen: new Map() };

describe("the ledger of seeds", () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nodevolume-seeds-"));
    file = join(folder, "seeds.jsonl");
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const firstSeeds = (ledger: SeedLedger, of = wanted) => ledger.left(of).map(({ firstSeed }) => firstSeed);

  /** One share of three is told. */
  function begun(): void {
    const ledger = new SeedLedger(file, "a");
    const [, second] = ledger.left(wanted);
    if (second === undefined) throw new Error("there is nothing left");
    ledger.add(second, outcome);
  }

  it("has all shares left where nothing was told, the last one shorter", () => {
    expect(new SeedLedger(file, "a").left(wanted)).to.deep.equal([
      { kind: "storm", firstSeed: 1, seeds: 10 },
      { kind: "storm", firstSeed: 11, seeds: 10 },
      { kind: "storm", firstSeed: 21, seeds: 5 },
    ]);
  });

  it("goes on behind what another sitting has told", () => {
    begun();
    const ledger = new SeedLedger(file, "a");
    expect(firstSeeds(ledger)).to.deep.equal([1, 21]);
    expect(ledger.done(wanted).map(({ runs, failed, failures }) => ({ runs, failed, failures }))).to.deep.equal([
      { runs: 10, failed: 1, failures: ["why"] },
    ]);
  });

  it("counts neither other sources nor other kinds", () => {
    begun();
    expect(firstSeeds(new SeedLedger(file, "b"))).to.deep.equal([1, 11, 21]);
    expect(firstSeeds(new SeedLedger(file, "a"), { ...wanted, kind: "stories" })).to.deep.equal([1, 11, 21]);
  });

  it("tells again what was being written when it ended, and nothing else", () => {
    begun();
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, `${whole}${whole.slice(0, 40)}`);
    expect(firstSeeds(new SeedLedger(file, "a"))).to.deep.equal([1, 21]);
    expect(readFileSync(file, "utf8")).to.equal(whole);
  });
});

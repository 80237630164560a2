// Tells seeds by the million, in as many sittings as it takes: node test/sim/seeds.ts [--kind KIND] [--seeds N]
// [--first N]
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../hack/lib/root.ts";
import { type Entry, type SeedKind, SeedLedger, type Wanted } from "./pool/ledger.ts";
import { commitOfSources, tellAll } from "./pool/sitting.ts";

const usage = `usage: node test/sim/seeds.ts [--kind KIND] [--seeds N] [--first N] [--share N] [--file FILE] [--plan]

Takes up where it was ended, by whatever: what is done stands in FILE, a line a share, for this commit alone.

--kind   storm (if not given), drivers or stories
--seeds  how many; 1000000 if not given
--first  the first; 1 if not given
--share  how many seeds one thread tells before they are written down; 500 if not given
--file   dist/sim-seeds.jsonl if not given
--plan   says what is done and how long the rest will take, and tells nothing`;

const kinds: readonly string[] = ["storm", "drivers", "stories"] satisfies SeedKind[];
const { values } = parseArgs({
  options: {
    kind: { type: "string", default: "storm" },
    seeds: { type: "string", default: "1000000" },
    first: { type: "string", default: "1" },
    share: { type: "string", default: "500" },
    file: { type: "string", default: join(root, "dist/sim-seeds.jsonl") },
    plan: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [first, seeds, size] = [values.first, values.seeds, values.share].map(Number) as [number, number, number];
const sane = [first, seeds, size].every((number) => Number.isSafeInteger(number) && number > 0);
if (values.help || !kinds.includes(values.kind) || !sane) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const wanted: Wanted = { kind: values.kind as SeedKind, first, seeds, size };
mkdirSync(dirname(values.file), { recursive: true });
const ledger = new SeedLedger(values.file, commitOfSources());
const begun = performance.now();
let toldNow = 0;
console.log(standing());
if (!values.plan) {
  await tellAll(ledger, ledger.left(wanted), (share) => {
    toldNow += share.seeds;
    console.log(standing());
  });
}
process.exitCode = ledger.done(wanted).some(({ failed }) => failed > 0) ? 1 : 0;

function standing(): string {
  const done = ledger.done(wanted);
  const sum = (of: (entry: Entry) => number) => done.reduce((all, entry) => all + of(entry), 0);
  const told = sum((entry) => entry.seeds);
  const rate = (sum(({ runs }) => runs) / sum(({ ms }) => ms)) * 1000;
  const speed = told === 0 ? "" : `, ${rate.toFixed(0)} a second of processor time`;
  const hours = ((seeds - told) / toldNow) * ((performance.now() - begun) / 3_600_000);
  const left = toldNow === 0 ? hoursAt(rate, seeds - told) : `${hours.toFixed(1)} hours left`;
  return `${told} of ${seeds} seeds (${wanted.kind}), ${sum(({ failed }) => failed)} failed${speed}; ${left}`;
}

/** While nothing was told in this sitting: by what earlier ones took. */
function hoursAt(rate: number, seedsLeft: number): string {
  if (Number.isNaN(rate)) return "how long that takes is not known yet";
  const threads = availableParallelism();
  return `${(seedsLeft / rate / threads / 3600).toFixed(1)} hours of ${threads} processors left`;
}

// Ends processes at two effects, one after the other, in as many sittings as it takes: node test/sim/pairs.ts
// [--pairs N]
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../hack/lib/root.ts";
import { mostPairsOfSeed } from "./pool/jobs.ts";
import { type Entry, SeedLedger, type Wanted } from "./pool/ledger.ts";
import { commitOfSources, tellAll } from "./pool/sitting.ts";

const usage = `usage: node test/sim/pairs.ts [--pairs N] [--first N] [--share N] [--file FILE] [--plan]

A pair: a process ends before, in the middle of or after one of its effects, alone or with its machine, and the next run of
it at one of its own. Takes up where it was ended: what is done stands in FILE, a line a share, for this commit alone.

--pairs  how many at least; 50000 if not given. A seed has up to ${mostPairsOfSeed}
--first  the first seed; 1 if not given
--share  how many seeds one thread tells before they are written down; 20 if not given
--file   dist/sim-pairs.jsonl if not given
--plan   says what is done, and tells nothing`;

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "50000" },
    first: { type: "string", default: "1" },
    share: { type: "string", default: "20" },
    file: { type: "string", default: join(root, "dist/sim-pairs.jsonl") },
    plan: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [pairs, first, size] = [values.pairs, values.first, values.share].map(Number) as [number, number, number];
const sane = [pairs, first, size].every((number) => Number.isSafeInteger(number) && number > 0);
if (values.help || !sane) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

mkdirSync(dirname(values.file), { recursive: true });
const ledger = new SeedLedger(values.file, commitOfSources());
let wanted: Wanted = { kind: "pairs", first, seeds: roundedUp(Math.ceil(pairs / mostPairsOfSeed)), size };
console.log(standing());
while (!values.plan && (ledger.left(wanted).length > 0 || told() < pairs)) {
  await tellAll(ledger, ledger.left(wanted), () => console.log(standing()));
  // Some seeds have fewer pairs than others: further ones make up for it.
  const missing = Math.max(0, pairs - told());
  wanted = { ...wanted, seeds: wanted.seeds + roundedUp(Math.ceil(missing / mostPairsOfSeed)) };
}
process.exitCode = ledger.done(wanted).some(({ failed }) => failed > 0) ? 1 : 0;

/** Whole shares, which the next sitting asks for, too. */
function roundedUp(seeds: number): number {
  return Math.ceil(seeds / size) * size;
}

function told(): number {
  return sum((entry) => entry.pairs);
}

function sum(of: (entry: Entry) => number): number {
  return ledger.done(wanted).reduce((all, entry) => all + of(entry), 0);
}

function standing(): string {
  const [runs, seconds] = [sum((entry) => entry.runs), sum(({ ms }) => ms) / 1000];
  const speed = runs === 0 ? "" : `, ${(runs / seconds).toFixed(0)} a second of processor time`;
  const failed = sum((entry) => entry.failed);
  return `${told()} of ${pairs} pairs, ${failed} failed; ${runs} runs of ${sum(({ seeds }) => seeds)} seeds${speed}`;
}

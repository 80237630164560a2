// Puts faults into the product, one at a time, and asks who notices: see hack/proof/mutants.ts.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../hack/lib/root.ts";
import { byRealTests, byUnitTests, type Verdict } from "./by-unit.ts";
import { byAllLaws, type Judge, judge, testsOf } from "./judge.ts";
import { seeds } from "./list.ts";
import { realTestsOf } from "./real-tests.ts";
import { Results } from "./results.ts";
import type { Seed } from "./seed.ts";
import { isEnough, tableOf } from "./table.ts";

const text = { type: "string" } as const;
const flag = { type: "boolean", default: false } as const;
const { values } = parseArgs({
  options: {
    grep: { ...text, default: "" },
    area: text,
    judges: { ...text, default: "near,room,laws,real,sim" },
    file: { ...text, default: join(root, "dist/mutants.jsonl") },
    "at-once": { ...text, default: String(availableParallelism()) },
    again: flag,
    survivors: flag,
    table: flag,
  },
});
const judges = values.judges.split(",") as Judge[];
const results = new Results(values.file);
const asked = seeds.filter(isAsked);
const left = values.table
  ? []
  : asked.filter((seed) => values.again || results.of(seed) === undefined || isRetried(seed));
const wrong: string[] = [];
const all = left.length;
let done = 0;

await checkTests();
await Promise.all(Array.from({ length: Number(values["at-once"]) }, work));
const rows = asked.map((seed) => ({ seed, judged: results.of(seed) }));
for (const line of tableOf(rows)) console.log(line);
for (const line of wrong) console.log(line);
process.exitCode = wrong.length === 0 && isEnough(rows) ? 0 : 1;

function isAsked({ area, name, edits, kubelet = "" }: Seed): boolean {
  const words = [name, kubelet, ...edits.map(({ file }) => file)];
  return (values.area === undefined || area === values.area) && words.some((word) => word.includes(values.grep));
}

function isRetried(seed: Seed): boolean {
  return values.survivors && results.of(seed)?.by === undefined;
}

/** What fails with nothing broken says nothing of what is. */
async function checkTests(): Promise<void> {
  const asked = left.flatMap((seed) => {
    const { near, far } = testsOf(seed);
    return [...(judges.includes("near") ? near : []), ...(judges.includes("room") ? far : [])];
  });
  const rooms = Map.groupBy(new Set(asked), (test) => test.split("/")[2]);
  for (const tests of rooms.values()) passed(await byUnitTests([], tests));
  const real = judges.includes("real") ? left.flatMap(({ edits: [edit] }) => realTestsOf(edit?.file ?? "")) : [];
  for (const test of new Set(real)) passed(await byRealTests([], [test]));
  if (judges.includes("laws") && left.length > 0) passed(await byAllLaws([]));
}

function passed({ noticed, what }: Verdict): void {
  if (noticed) throw new Error(`a test fails with nothing broken: ${what}`);
  console.log(`nothing broken: ${what}`);
}

async function work(): Promise<void> {
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    const begun = performance.now();
    try {
      const judged = await judge(seed, judges);
      results.add(seed, judged);
      const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
      console.log(
        `${++done}/${all} ${took} ${judged.by ?? "SURVIVED"}: ${seed.name}\n      ${judged.what.slice(0, 200)}`,
      );
    } catch (error) {
      wrong.push(`COULD NOT BE TRIED: ${seed.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

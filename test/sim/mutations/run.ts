// Breaks the product on purpose, one thing at a time, and prints which law's tests and what of the simulator notice it:
//   node test/sim/mutations/run.ts [TEXT IN THE LAW OR THE NAME]
// Nothing is written: the broken sources are given to the processes that run them.
import { availableParallelism } from "node:os";
import { type Breaker, breakers, lawsToBreak } from "./breakers.ts";
import { runProbe } from "./run-probe.ts";

interface Row {
  readonly breaker: Breaker;
  /** What the tests of the law said; undefined if they are not about it. */
  readonly laws: boolean | undefined;
  readonly simulator: boolean;
  readonly what: string;
}

const [text = ""] = process.argv.slice(2);
const asked = breakers.filter(({ law, name }) => law === text || name.includes(text));
const rows: Row[] = [];
const left = [...asked];
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.exitCode = summarize() ? 0 : 1;

async function work(): Promise<void> {
  for (let breaker = left.shift(); breaker !== undefined; breaker = left.shift()) {
    const row = await tried(breaker);
    rows.push(row);
    const cells = [breaker.law.padEnd(21), cell(row.laws).padEnd(6), cell(row.simulator).padEnd(6), breaker.name];
    console.log(`${cells.join(" ")}\n${" ".repeat(36)}${row.what}`);
  }
}

async function tried(breaker: Breaker): Promise<Row> {
  const { edits, hint, runLaw } = breaker;
  const found = await runProbe({ edits, hint });
  const run = found.hint === undefined ? "" : `, run ${found.runs}: ${JSON.stringify(found.hint)}`;
  const laws = runLaw === undefined ? undefined : await runLaw();
  return { breaker, laws, simulator: found.noticed, what: `${found.what.slice(0, 300)}${run}` };
}

/** @returns whether each law is caught by somebody, and all that the simulator has to notice by it */
function summarize(): boolean {
  console.log("\nlaw                   broken  by laws  by simulator");
  let good = true;
  for (const law of lawsToBreak.filter((each) => rows.some(({ breaker }) => breaker.law === each))) {
    const of = rows.filter(({ breaker }) => breaker.law === law);
    const counts = [of.length, of.filter(({ laws }) => laws).length, of.filter(({ simulator }) => simulator).length];
    console.log(`${law.padEnd(21)} ${counts.map((count) => String(count).padStart(6)).join("   ")}`);
    good &&= of.some(({ laws, simulator }) => laws === true || simulator);
  }
  const missed = rows.filter(({ breaker, laws, simulator }) => !simulator && (breaker.bySimulator || laws !== true));
  for (const { breaker } of missed) console.log(`NOT NOTICED: ${breaker.law}, ${breaker.name}`);
  return good && missed.length === 0;
}

function cell(noticed: boolean | undefined): string {
  return noticed === undefined ? "-" : noticed ? "caught" : "missed";
}

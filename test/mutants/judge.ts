import { usualSeed } from "../laws/law.ts";
import { runMutant } from "../laws/mutants/run-mutant.ts";
import type { Hint } from "../sim/mutations/mutation.ts";
import { runProbe } from "../sim/mutations/run-probe.ts";
import { byRealTests, byUnitTests, type UnitTests, unitTestsOf, type Verdict } from "./by-unit.ts";
import { realTestsOf } from "./real-tests.ts";
import type { Seed } from "./seed.ts";

const allLaws = ["test/laws/l[0-9]*.test.ts", "test/laws/incremental-plan.test.ts"];
/** Worlds of each law, where no law is known to be about a fault. */
const runsOfAll = 300;

/** Unit tests that are near to a fault, all others of the room, laws, tests on the real kernel, and simulator. */
export type Judge = "near" | "room" | "laws" | "real" | "sim";

/** All laws, as they are tried where no law is known to be about a fault. */
export function byAllLaws(edits: Seed["edits"]): Promise<Verdict> {
  return byUnitTests(edits, allLaws, {
    NODEVOLUME_LAWS_RUNS: String(runsOfAll),
    NODEVOLUME_LAWS_SEED: String(usualSeed),
  });
}

/** Who noticed one fault, and by what. */
export interface Judged {
  /** The first who did, of unit tests, laws, real kernel and simulator; nobody: it survived. */
  readonly by?: "unit" | "laws" | "real" | "sim";
  readonly what: string;
  /** File of the unit or real test. */
  readonly test?: string;
  /** Of the simulator, if it was asked: how many runs it took, 0 if they all passed. */
  readonly runs?: number;
  /** The run of the simulator. */
  readonly hint?: Hint;
}

/** The unit tests that a fault is tried with; none where the room has none. */
export function testsOf({ edits: [edit] }: Seed): UnitTests {
  return edit?.file.startsWith("src/") === true ? unitTestsOf(edit.file) : { near: [], far: [] };
}

/**
 * Asks unit tests, laws, the real kernel and the simulator, in this order, until one notices. The simulator is asked in
 * any case for a law or rule that is taken away whole.
 */
export async function judge(seed: Seed, judges: readonly Judge[]): Promise<Judged> {
  const tried: string[] = [];
  let found: Judged | undefined;
  const { near, far } = testsOf(seed);
  for (const tests of [judges.includes("near") ? near : [], judges.includes("room") ? far : []]) {
    if (found !== undefined || tests.length === 0) continue;
    const { noticed, what, test } = await byUnitTests(seed.edits, tests);
    if (noticed) found = { by: "unit", what, ...(test !== undefined && { test }) };
    else tried.push(what);
  }
  if (found === undefined && judges.includes("laws")) {
    const verdict = await byLaw(seed);
    if (verdict?.noticed === true) found = { by: "laws", what: verdict.what };
    else if (verdict !== undefined) tried.push(verdict.what);
  }
  const real = judges.includes("real") && found === undefined ? realTestsOf(seed.edits[0]?.file ?? "") : [];
  if (real.length > 0) {
    const { noticed, what, test } = await byRealTests(seed.edits, real);
    if (noticed) found = { by: "real", what, ...(test !== undefined && { test }) };
    else tried.push(what);
  }
  if (!judges.includes("sim") || (found !== undefined && seed.removes === undefined)) {
    return found ?? { what: tried.join("; ") };
  }
  const sighting = await runProbe({ edits: seed.edits, hint: seed.noticedBy });
  const runs = sighting.noticed ? (sighting.runs ?? 1) : 0;
  if (found !== undefined) return { ...found, runs };
  const { hint } = sighting;
  if (sighting.noticed) return { by: "sim", what: `${hint?.scenario}: ${sighting.what}`, runs, ...(hint && { hint }) };
  return { what: [...tried, sighting.what].join("; "), runs };
}

/** The law that is about it, or all of them for the planner; undefined if none is about the like. */
async function byLaw({ law, edits, name, area }: Seed): Promise<Verdict | undefined> {
  const [edit] = edits;
  if (law === undefined || edit === undefined) {
    return area === "planner" ? byAllLaws(edits) : undefined;
  }
  const { failures, passed } = await runMutant({ ...law, ...edit, what: name });
  const [first] = failures;
  return first === undefined
    ? { noticed: false, what: `${passed} tests of ${law.law} passed` }
    : { noticed: true, what: first.split("\n")[0] ?? "" };
}

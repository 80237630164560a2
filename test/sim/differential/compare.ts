import type { AgentPlace } from "../kernel/agent-namespace.ts";
import type { Sightings } from "../sightings.ts";
import { Actor } from "./carry-out.ts";
import type { DifferentialWorld } from "./differential-world.ts";
import { nameOf, type Operation, type Place } from "./operations.ts";
import { type Snapshot, snapshot } from "./snapshot.ts";

/** Where two worlds came to differ, and what was done until then. */
export interface Difference {
  readonly operations: readonly Operation[];
  readonly text: string;
}

/** Says what is done next, given what the simulated world looks like; undefined at the end. */
export type Script = (now: Snapshot) => Operation | undefined;

/** What every sequence begins with, so that there is something to act upon. */
const groundwork: readonly Operation[] = [
  ...["/srv/a", "/srv/a/x", "/srv/b", "/srv/m", "/mnt/nodevolume/a", "/mnt/nodevolume/b"].map(
    (path): Operation => ({ kind: "mkdir", place: "host", path }),
  ),
  { kind: "write", place: "host", path: "/srv/f", content: "file" },
  { kind: "write", place: "host", path: "/srv/a/f", content: "inner" },
];

export interface Pair {
  readonly place: AgentPlace;
  readonly real: () => DifferentialWorld;
  readonly simulated: () => DifferentialWorld;
  readonly sightings: Sightings;
}

/** Carries out the same on both, and looks at both after each step. @returns undefined if they are alike to the end */
export async function difference(pair: Pair, script: Script): Promise<Difference | undefined> {
  await using real = pair.real();
  await using simulated = pair.simulated();
  const actors = { real: new Actor(real, pair.place), simulated: new Actor(simulated, pair.place) };
  const seen: Place[] = pair.place === "pod" ? ["host", "agent", "container"] : ["host", "container"];
  const ages = { real: new Map(), simulated: new Map() };
  const look = (step: number) => ({
    real: snapshot(real, seen, ages.real, step),
    simulated: snapshot(simulated, seen, ages.simulated, step),
  });
  let { simulated: seenLast } = look(0); // what happened while they were made is told of
  const operations: Operation[] = [];
  for (let step = 0; ; step++) {
    const operation = groundwork[step] ?? script(seenLast);
    if (operation === undefined) return undefined;
    if (step >= groundwork.length) operations.push(operation);
    const told = {
      real: await actors.real.carryOut(operation),
      simulated: await actors.simulated.carryOut(operation),
    };
    if (step < groundwork.length - 1) continue; // looked at once it is all there
    const now = look(step + 1);
    seenLast = now.simulated;
    const outcome = { real: told.real(now.real), simulated: told.simulated(now.simulated) };
    pair.sightings.add(nameOf(operation), wordOf(outcome.real));
    const text = [
      ...lineDifference([outcome.real], [outcome.simulated]).map((line) => `outcome ${line}`),
      ...differenceOf(now.real, now.simulated),
    ];
    if (text.length > 0) return { operations, text: text.join("\n") };
  }
}

/** The same operations again. */
function replay(operations: readonly Operation[]): Script {
  const left = [...operations];
  return () => left.shift();
}

/** Leaves out what a difference does not need, one operation at a time. */
export async function shrink(pair: Pair, found: Difference): Promise<Difference> {
  let least = found;
  for (let index = found.operations.length - 1; index >= 0; index--) {
    if (index >= least.operations.length) continue;
    const without = least.operations.filter((_, at) => at !== index);
    least = (await difference(pair, replay(without))) ?? least;
  }
  return least;
}

function differenceOf(real: Snapshot, simulated: Snapshot): string[] {
  return lineDifference(real.lines, simulated.lines);
}

function lineDifference(real: readonly string[], simulated: readonly string[]): string[] {
  return [
    ...real.filter((line) => !simulated.includes(line)).map((line) => `real      ${line}`),
    ...simulated.filter((line) => !real.includes(line)).map((line) => `simulated ${line}`),
    ...(real.length === simulated.length &&
    real.every((line) => simulated.includes(line)) &&
    real.join() !== simulated.join()
      ? ["real      another order", ...real]
      : []),
  ];
}

/** The outcome without what is different each time, for counting. */
function wordOf(outcome: string): string {
  return outcome.split(/[ ,:]/, 1)[0] ?? outcome;
}

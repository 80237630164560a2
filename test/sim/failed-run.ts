import type { CrashPoint } from "./faults.ts";
import type { RunInput, RunResult } from "./run-scenario.ts";
import type { Scenario } from "./scenarios/scenario.ts";

const tailLines = 24;

/** What people need of a run that failed: what it was, its end, and a command that tells all of it again. */
export function describeFailure({ name }: Scenario, input: RunInput, { world, error }: RunResult): string {
  return [
    `"${name}", seed ${input.seed}: ${error?.message}`,
    world.trace.tail(tailLines),
    `all of it: ${replayCommand(name, input)}`,
  ].join("\n");
}

function replayCommand(name: string, { seed, crash, stormy, place }: RunInput): string {
  return [
    `node test/sim/replay.ts '${name}' --seed ${seed}`,
    ...(crash === undefined ? [] : [`--crash ${placeOf(crash)}`]),
    ...(crash?.next === undefined ? [] : [`--next ${placeOf(crash.next)}`]),
    ...(stormy === true ? ["--storm"] : []),
    ...(place === undefined ? [] : [`--place ${place}`]),
  ].join(" ");
}

function placeOf({ effect, moment, ending }: CrashPoint): string {
  return `${effect}:${moment}:${ending}`;
}

import { type CrashPoint, type Effect, type Ending, type Moment, nextRunOf } from "./faults.ts";
import type { SeededRandom } from "./random.ts";

/** Half of the second crashes come this early in their run, where it finds out what the one before has left. */
const earlyEffects = 12;
/** Of the ends of agents, how many take the machine along. */
const reboots = 0.3;

/** Some place where a process of a run can end. @throws RangeError if the run has no effects */
export function someCrash(effects: readonly Effect[], random: SeededRandom): CrashPoint {
  const effect = 1 + random.below(effects.length);
  return { effect, ...someHit(effects[effect - 1], random) };
}

/**
 * The effects of the run that follows the one that ended at effect `ended`, as far as it came; none if there was none.
 */
export function effectsAfter(effects: readonly Effect[], ended: number): Effect[] {
  const run = effects[ended - 1]?.process;
  return run === undefined ? [] : effects.filter(({ process }) => process === nextRunOf(run));
}

/** Up to `most` different places where the run after `first` can end, which has these effects if nothing ends it. */
export function somePairs(
  first: CrashPoint,
  { effects, most, random }: { effects: readonly Effect[]; most: number; random: SeededRandom },
): CrashPoint[] {
  const pairs = new Map<string, CrashPoint>();
  for (let i = 0; i < most && effects.length > 0; i++) {
    const among = random.chance(0.5) ? effects.slice(0, earlyEffects) : effects;
    const next = someCrash(among, random);
    pairs.set(`${next.effect} ${next.moment} ${next.ending}`, { ...first, next });
  }
  return [...pairs.values()];
}

/** Controllers run on no machine of the world. */
function someHit(effect: Effect | undefined, random: SeededRandom): { moment: Moment; ending: Ending } {
  const moment = random.pick<Moment>(effect?.canTear === true ? ["before", "torn", "after"] : ["before", "after"]);
  const onMachine = effect?.process.startsWith("controller-") === false;
  return { moment, ending: onMachine && random.chance(reboots) ? "reboot" : "kill" };
}

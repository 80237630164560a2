import type { CrashPoint, Effect, Moment } from "./faults.ts";

/** Of the reboots of a scenario, one in so many is tried where time matters. */
const rebootShare = 3;

/**
 * Where the processes of a run can end: before, in the middle of and after each of its effects, alone; and with their
 * machine, of which only a share is tried unless all are asked for. Controllers run on no machine of the world.
 */
export function crashPoints(effects: readonly Effect[], { all }: { readonly all: boolean }): CrashPoint[] {
  return effects.flatMap(({ canTear, process }, index) => {
    const effect = index + 1;
    const moments: Moment[] = canTear ? ["before", "torn", "after"] : ["before", "after"];
    const kills = moments.map((moment): CrashPoint => ({ effect, moment, ending: "kill" }));
    if (process.startsWith("controller-")) return kills;
    const reboots = moments.map((moment): CrashPoint => ({ effect, moment, ending: "reboot" }));
    return [...kills, ...(all ? reboots : reboots.filter((_, i) => (index + i) % rebootShare === 0))];
  });
}

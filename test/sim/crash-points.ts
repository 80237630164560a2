import type { CrashPoint, Effect, Moment } from "./faults.ts";

/** Of the reboots of a scenario, one in so many is tried where time matters. */
const rebootShare = 3;

/**
 * Where the processes of a run can end: before, in the middle of and after each of its effects, alone; and with their
 * machine. Controllers run on no machine of the world. Unless all are asked for, only a share of the reboots is tried,
 * and no end before an effect that follows another one of the same process: it leaves the world as the end after that
 * one.
 */
export function crashPoints(effects: readonly Effect[], { all }: { readonly all: boolean }): CrashPoint[] {
  return effects.flatMap(({ canTear, process }, index) => {
    const effect = index + 1;
    const moments: Moment[] = canTear ? ["before", "torn", "after"] : ["before", "after"];
    const follows = effects[index - 1]?.process === process;
    const killed = moments.filter((moment) => all || moment !== "before" || !follows);
    const kills = killed.map((moment): CrashPoint => ({ effect, moment, ending: "kill" }));
    if (process.startsWith("controller-")) return kills;
    const reboots = moments.map((moment): CrashPoint => ({ effect, moment, ending: "reboot" }));
    return [...kills, ...(all ? reboots : reboots.filter((_, i) => (index + i) % rebootShare === 0))];
  });
}

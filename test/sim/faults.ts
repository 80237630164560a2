import type { SeededRandom } from "./random.ts";

/** At which moment of an effect its process is ended. */
export type Moment = "before" | "torn" | "after";

/** How a process ends: alone, or with the whole machine, which starts again. */
export type Ending = "kill" | "reboot";

/** How one effect is hit. */
export interface Hit {
  readonly moment: Moment;
  readonly ending: Ending;
}

/** One effect, by its number in the run, and what happens there. */
export interface CrashPoint extends Hit {
  readonly effect: number;
}

/** Crashes that nobody has planned: each effect may be hit, until there were enough of them. */
export interface RandomCrashes {
  readonly random: SeededRandom;
  /** For each effect. */
  readonly probability: number;
  readonly most: number;
  /** Of all crashes, how many take the machine along. */
  readonly reboots: number;
}

/** An effect of the run: something that a process changed outside of itself. */
export interface Effect {
  readonly process: string;
  readonly what: string;
  /** Whether it can be cut off in the middle. */
  readonly canTear: boolean;
}

/** Numbers the effects of all processes of a world, and says which of them are hit. */
export class Faults {
  readonly effects: Effect[] = [];
  crashes = 0;
  readonly #point: CrashPoint | undefined;
  readonly #atRandom: RandomCrashes | undefined;

  constructor(point: CrashPoint | undefined, atRandom?: RandomCrashes) {
    this.#point = point;
    this.#atRandom = atRandom;
  }

  /** Whether the crash that was planned has happened. */
  get struck(): boolean {
    return this.#point === undefined || this.crashes > 0;
  }

  /** Told of each effect when its moment has come. @returns how it is hit, if it is */
  next(effect: Effect): Hit | undefined {
    this.effects.push(effect);
    const hit = this.#planned() ?? this.#random();
    if (hit === undefined) return undefined;
    this.crashes++;
    return hit.moment === "torn" && !effect.canTear ? { ...hit, moment: "before" } : hit;
  }

  #planned(): Hit | undefined {
    return this.#point?.effect === this.effects.length ? this.#point : undefined;
  }

  #random(): Hit | undefined {
    if (this.#atRandom === undefined || this.crashes >= this.#atRandom.most) return undefined;
    const { random, probability, reboots } = this.#atRandom;
    if (!random.chance(probability)) return undefined;
    return { moment: random.pick(["before", "torn", "after"]), ending: random.chance(reboots) ? "reboot" : "kill" };
  }
}

/** What an effect does, without what it is done to. */
export function kindOfEffect(what: string): string {
  const [first = "", second = "", third = ""] = what.split(" ");
  if (first === "child") return `${first} ${third}`;
  return second === "" || second.startsWith("/") ? first : `${first} ${second}`;
}

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
  /**
   * Ends the run that follows, too: the next one of the same process. Its effects are counted by themselves, from 1.
   */
  readonly next?: Omit<CrashPoint, "next">;
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
  #strikes = 0;
  /** The run after the first planned crash. */
  #next: { readonly process: string; effects: number } | undefined;

  constructor(point: CrashPoint | undefined, atRandom?: RandomCrashes) {
    this.#point = point;
    this.#atRandom = atRandom;
  }

  /** Whether every crash that was planned has happened. */
  get struck(): boolean {
    const planned = [this.#point, this.#point?.next].filter((point) => point !== undefined);
    return this.#strikes === planned.length;
  }

  /** Told of each effect when its moment has come. @returns how it is hit, if it is */
  next(effect: Effect): Hit | undefined {
    this.effects.push(effect);
    const hit = this.#planned(effect) ?? this.#random();
    if (hit === undefined) return undefined;
    this.crashes++;
    return hit.moment === "torn" && !effect.canTear ? { ...hit, moment: "before" } : hit;
  }

  #planned({ process }: Effect): Hit | undefined {
    const point = this.#point;
    if (point?.effect === this.effects.length) {
      this.#strikes++;
      this.#next = { process: nextRunOf(process), effects: 0 };
      return point;
    }
    if (this.#next?.process !== process || ++this.#next.effects !== point?.next?.effect) return undefined;
    this.#strikes++;
    return point.next;
  }

  #random(): Hit | undefined {
    if (this.#atRandom === undefined || this.crashes >= this.#atRandom.most) return undefined;
    const { random, probability, reboots } = this.#atRandom;
    if (!random.chance(probability)) return undefined;
    return { moment: random.pick(["before", "torn", "after"]), ending: random.chance(reboots) ? "reboot" : "kill" };
  }
}

/** The name of the run of a process after this one: "a#3" after "a#2". */
export function nextRunOf(run: string): string {
  const at = run.lastIndexOf("#");
  return `${run.slice(0, at)}#${Number(run.slice(at + 1)) + 1}`;
}

/** What an effect does, without what it is done to. */
export function kindOfEffect(what: string): string {
  const [first = "", second = "", third = ""] = what.split(" ");
  if (first === "child") return `${first} ${third}`;
  return second === "" || second.startsWith("/") ? first : `${first} ${second}`;
}

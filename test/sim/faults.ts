/** At which moment of an effect its process is ended. */
export type Moment = "before" | "torn" | "after";

/** How a process ends: alone, or with the whole machine, which starts again. */
export type Ending = "kill" | "reboot";

/** One effect, by its number in the run, and what happens there. */
export interface CrashPoint {
  readonly effect: number;
  readonly moment: Moment;
  readonly ending: Ending;
}

/** An effect of the run: something that a process changed outside of itself. */
export interface Effect {
  readonly process: string;
  readonly what: string;
  /** Whether it can be cut off in the middle. */
  readonly canTear: boolean;
}

/** Numbers the effects of all processes of a world, and says where one is to end. */
export class Faults {
  readonly effects: Effect[] = [];
  readonly #point: CrashPoint | undefined;
  #struck = false;

  constructor(point: CrashPoint | undefined) {
    this.#point = point;
  }

  /** Whether the crash that was planned has happened. */
  get struck(): boolean {
    return this.#point === undefined || this.#struck;
  }

  /** Told of each effect when its moment has come. @returns how it is hit, if it is the one */
  next(effect: Effect): CrashPoint | undefined {
    this.effects.push(effect);
    const point = this.#point;
    if (point === undefined || this.effects.length !== point.effect) return undefined;
    this.#struck = true;
    return point.moment === "torn" && !effect.canTear ? { ...point, moment: "before" } : point;
  }
}

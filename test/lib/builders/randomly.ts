/** A stream of numbers from one seed (mulberry32): a test that fails names the seed, and can be told again. */
export class Randomly {
  readonly seed: number;
  #state: number;

  constructor(seed: number = Number(process.env["NODEVOLUME_E2E_SEED"] ?? Math.floor(Math.random() * 2 ** 31))) {
    this.seed = seed;
    this.#state = seed;
  }

  /** From 0 up to `below`, whole. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  /** @throws Error if there is nothing to choose from */
  one<T>(of: readonly T[]): T {
    const chosen = of[this.below(of.length)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  }
}

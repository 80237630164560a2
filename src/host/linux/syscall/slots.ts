/** Lets so many through at a time, the others in the order in which they came. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when there is a slot. @returns gives it to the next one when it is disposed of */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return { [Symbol.dispose]: () => this.#giveBack() };
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

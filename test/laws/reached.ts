/** How often a state was reached: a law that passes because its case never occurs is none. */
export class Reached {
  readonly #counts = new Map<string, number>();

  /** @param times true and false count as once and not at all */
  count(what: string, times: number | boolean = true): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + Number(times));
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  toString(): string {
    return [...this.#counts].map(([what, times]) => `${what} ${times}`).join(", ");
  }
}

/** What happened in a world, line by line: for people who read a failed run, and to compare two runs byte for byte. */
export class Trace {
  readonly #lines: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param who the process, the kernel of a node, the API server or a person */
  add(who: string, what: string): void {
    this.#lines.push(`${this.#now().toFixed(3).padStart(12)} ${who.padEnd(10)} ${what}`);
  }

  get length(): number {
    return this.#lines.length;
  }

  /** The last lines, but for those that only say that somebody is alive. */
  tail(lines: number): string {
    return this.#lines
      .filter((line) => !line.includes("leases"))
      .slice(-lines)
      .join("\n");
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

/** What happened in a world, line by line: for people who read a failed run, and to compare two runs byte for byte. */
export class Trace {
  /** Made lines of when they are read: most traces never are. */
  readonly #entries: { readonly at: number; readonly who: string; readonly what: string }[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param who the process, the kernel of a node, the API server or a person */
  add(who: string, what: string): void {
    this.#entries.push({ at: this.#now(), who, what });
  }

  get length(): number {
    return this.#entries.length;
  }

  /** The last lines, but for those that only say that somebody is alive. */
  tail(lines: number): string {
    return this.#entries
      .filter(({ what }) => !what.includes("leases"))
      .slice(-lines)
      .map(lineOf)
      .join("\n");
  }

  toString(): string {
    return this.#entries.map(lineOf).join("\n");
  }
}

function lineOf({ at, who, what }: { readonly at: number; readonly who: string; readonly what: string }): string {
  return `${at.toFixed(3).padStart(12)} ${who.padEnd(10)} ${what}`;
}

interface Entry {
  readonly at: number;
  readonly who: string;
  readonly what: string | (() => string);
}

/** What happened in a world, line by line: for people who read a failed run, and to compare two runs byte for byte. */
export class Trace {
  /** Made lines of when they are read: most traces never are. */
  readonly #entries: Entry[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * @param who the process, the kernel of a node, the API server or a person
   * @param what a line, or what makes it of things that nobody changes any more
   */
  add(who: string, what: string | (() => string)): void {
    this.#entries.push({ at: this.#now(), who, what });
  }

  get length(): number {
    return this.#entries.length;
  }

  /** The last lines, but for those that only say that somebody is alive. */
  tail(lines: number): string {
    return this.#entries
      .map(lineOf)
      .filter((line) => !line.includes("leases"))
      .slice(-lines)
      .join("\n");
  }

  toString(): string {
    return this.#entries.map(lineOf).join("\n");
  }
}

function lineOf({ at, who, what }: Entry): string {
  return `${at.toFixed(3).padStart(12)} ${who.padEnd(10)} ${typeof what === "string" ? what : what()}`;
}

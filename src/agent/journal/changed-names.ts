/** Names of what was changed, until somebody asks. */
export class Touched {
  #names = new Set<string>();

  add(name: string): void {
    this.#names.add(name);
  }

  /** What was changed since the last time that this was asked. */
  take(): ReadonlySet<string> {
    const names = this.#names;
    this.#names = new Set();
    return names;
  }
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * How many tries of each operation have ended well, in a file that the next run goes on from; nowhere without a file.
 */
export class Shares {
  readonly #file: string | undefined;
  readonly #done: Map<string, number>;

  constructor(file: string | undefined) {
    this.#file = file;
    const known = file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : {};
    this.#done = new Map(Object.entries(known));
  }

  of(operation: string): number {
    return this.#done.get(operation) ?? 0;
  }

  add(operation: string, tries: number): void {
    this.#done.set(operation, this.of(operation) + tries);
    if (this.#file !== undefined) writeFileSync(this.#file, `${JSON.stringify(Object.fromEntries(this.#done))}\n`);
  }
}

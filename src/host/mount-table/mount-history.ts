import type { MountEntry } from "./mountinfo.ts";

/** Entries that are remembered. Whoever was last here before that has to look at everything. */
const entryLimit = 8_192;
const stepLimit = 1_024;

/** PURE. What changed from each version of a mount table to the next, as far back as is remembered. */
export class MountHistory {
  #steps: (readonly MountEntry[])[] = [];
  #entries = 0;
  /** Version that the first remembered step begins at. */
  #from = 0;

  get latest(): number {
    return this.#from + this.#steps.length;
  }

  /** @returns the version that these changes lead to from the latest one */
  add(changed: readonly MountEntry[]): number {
    this.#steps.push(changed);
    this.#entries += changed.length;
    while (this.#steps.length > 1 && (this.#entries > entryLimit || this.#steps.length > stepLimit)) {
      this.#entries -= this.#steps.shift()?.length ?? 0;
      this.#from += 1;
    }
    return this.latest;
  }

  /** @returns undefined if that is not remembered */
  between(earlier: number, later: number): readonly MountEntry[] | undefined {
    if (earlier < this.#from || later < earlier) return undefined;
    return this.#steps.slice(earlier - this.#from, later - this.#from).flat();
  }
}

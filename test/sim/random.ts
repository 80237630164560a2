import type { Random } from "../../src/ports.ts";

/** Numbers that look random and are the same for the same seed (sfc32, Chris Doty-Humphrey's PractRand). */
export class SeededRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param name makes streams of one seed that do not disturb each other */
  constructor(seed: number, name: string) {
    this.#a = hash(name);
    this.#b = seed | 0;
    this.#c = Math.trunc(seed / 0x1_0000_0000) | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 0x1_0000_0000;
  }

  uuid(): string {
    const hex = (digits: number) => {
      let text = "";
      while (text.length < digits) text += "0123456789abcdef".charAt(this.below(16));
      return text;
    };
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  }

  /** Uniform from `low` to below `high`. */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** @throws RangeError if there is nothing to choose from */
  pick<T>(from: readonly T[]): T {
    const chosen = from[this.below(from.length)];
    if (chosen === undefined) throw new RangeError("nothing to choose from");
    return chosen;
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value | 0;
}

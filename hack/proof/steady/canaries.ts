import { randomBytes } from "node:crypto";

/** Bytes of which every Secret is made, again and again: a multiple of three, so that base64 of it repeats as well. */
const period = 12;

/**
 * Values for Secrets that can be told wherever they come out: each is one word of a run, repeated, so that any 23 bytes
 * of one in a row have the word whole; also as base64, whatever stands before it, and as hex.
 */
export class Canaries {
  readonly #word: string;
  readonly #traces: readonly string[];

  /** @param word 12 letters and digits that nothing else says */
  constructor(word = `cnry${randomBytes(4).toString("hex")}`) {
    if (word.length !== period) throw new RangeError(`a canary has ${period} bytes: ${word}`);
    this.#word = word;
    const around = word.repeat(3);
    // Each alignment of base64's groups of three, without the first and last group, which have a neighbour's bits.
    const base64 = [0, 1, 2].map((shift) => Buffer.from(around.slice(shift, shift + period)).toString("base64"));
    const hex = Buffer.from(word).toString("hex");
    this.#traces = [word, ...base64, hex, hex.toUpperCase()];
  }

  /** A value of so many bytes; `generation` makes values of the same length differ. */
  value(bytes: number, generation = 0): string {
    const start = generation % period;
    return this.#word.repeat(Math.ceil((bytes + start) / period)).slice(start, start + bytes);
  }

  /** How many traces of any Secret a text has. */
  count(text: string): number {
    return this.#traces.reduce((sum, trace) => sum + text.split(trace).length - 1, 0);
  }

  /** The longest text at whose end a trace can have begun without being whole. */
  get longestPart(): number {
    return Math.max(...this.#traces.map(({ length }) => length)) - 1;
  }
}

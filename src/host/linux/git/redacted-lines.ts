import { redact } from "../../../api/values/redact.ts";

/** Of one line; what is longer is left out. */
const longestLine = 16 * 1024;

/**
 * The lines of what a program writes, as they come, without secrets: a server may say what it was told. Whole, as of a
 * secret that was cut the rest is not known.
 */
export class RedactedLines {
  readonly #secrets: readonly string[];
  #begun = "";
  #tooLong = false;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** @returns the lines that ended with it */
  push(chunk: string): string[] {
    const lines = chunk.split(/[\r\n]/);
    const [first = "", ...others] = lines;
    this.#add(first);
    return others.flatMap((next) => {
      const line = this.#tooLong ? "" : redact(this.#begun.trim(), this.#secrets);
      this.#begun = "";
      this.#tooLong = false;
      this.#add(next);
      return line === "" ? [] : [line];
    });
  }

  /** The last line, which need not have an end. */
  rest(): string[] {
    return this.push("\n");
  }

  #add(text: string): void {
    this.#tooLong ||= this.#begun.length + text.length > longestLine;
    this.#begun = this.#tooLong ? "" : this.#begun + text;
  }
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SeededRandom } from "../../sim/random.ts";
import { Coverage } from "./coverage.ts";

/** Characters of an input that is kept: others are long, not telling. */
const longest = 4_096;

/** Inputs that have made code run which none before them did: test/random/corpus/NAME.jsonl, a line each. */
export class Learned<T> {
  readonly inputs: T[];
  readonly #file: string;

  constructor(name: string) {
    this.#file = fileURLToPath(new URL(`../../random/corpus/${name}.jsonl`, import.meta.url));
    const lines = existsSync(this.#file) ? readFileSync(this.#file, "utf8").split("\n") : [];
    this.inputs = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
  }

  /** How many inputs to look for, by NODEVOLUME_MUTATED_LEARN. */
  static get asked(): number {
    return Number(process.env["NODEVOLUME_MUTATED_LEARN"] ?? 0);
  }

  /**
   * Makes inputs and keeps those that reach what nothing before them did; these are what further ones are made of, too.
   * @param known what is tried first: it has been reached without them
   */
  async learn(known: readonly T[], make: (random: SeededRandom) => T, look: (input: T) => unknown): Promise<string> {
    const coverage = new Coverage();
    await coverage.start();
    for (const input of [...known, ...this.inputs]) look(input);
    await coverage.fresh();
    const before = coverage.total;
    for (let number = 1; number <= Learned.asked; number++) {
      const input = JSON.parse(JSON.stringify(make(new SeededRandom(number, "learning")))) as T;
      look(input);
      if ((await coverage.fresh()) > 0 && JSON.stringify(input).length <= longest) this.inputs.push(input);
    }
    const after = coverage.total;
    coverage.stop();
    writeFileSync(this.#file, this.inputs.map((input) => `${JSON.stringify(input)}\n`).join(""));
    return `${Learned.asked} tried, ${this.inputs.length} kept: ${before} bytes of source by the corpus, ${after} with them`;
  }
}

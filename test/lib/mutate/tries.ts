import { SeededRandom } from "../../sim/random.ts";
import { full } from "../asserts/requirements.ts";

export interface Tries {
  /** Names the stream of random numbers, and what is tried. */
  readonly what: string;
  /** Inputs of a usual run, and with --full. */
  readonly usual: number;
  readonly whole: number;
  /**
   * Makes one input and looks at what becomes of it.
   * @returns what it came to, which is counted.
   * @throws Error if that is wrong
   */
  readonly attempt: (random: SeededRandom) => string | Promise<string>;
  /** How often each outcome must have come at least: else the inputs say nothing. */
  readonly reaches: Readonly<Record<string, number>>;
}

/**
 * Tries many inputs, each from a seed of its own, so that one can be told again by its number:
 * NODEVOLUME_MUTATED_FIRST, with NODEVOLUME_MUTATED_COUNT=1. Prints how many a second, and what they came to.
 * @throws Error naming the number of the first input that was dealt with wrongly
 */
export async function tryAll({ what, usual, whole, attempt, reaches }: Tries): Promise<void> {
  const first = Number(process.env["NODEVOLUME_MUTATED_FIRST"] ?? 1);
  const asked = process.env["NODEVOLUME_MUTATED_COUNT"];
  const count = Number(asked ?? (full() ? whole : usual));
  const seen = new Map<string, number>();
  const began = performance.now();
  for (let number = first; number < first + count; number++) {
    try {
      const came = await attempt(new SeededRandom(number, what));
      seen.set(came, (seen.get(came) ?? 0) + 1);
    } catch (error) {
      const again = `NODEVOLUME_MUTATED_FIRST=${number} NODEVOLUME_MUTATED_COUNT=1`;
      throw new Error(`${what} ${number}: ${error instanceof Error ? error.message : error}; again: ${again}`, {
        cause: error,
      });
    }
  }
  const seconds = (performance.now() - began) / 1000;
  const outcomes = [...seen].sort().map(([outcome, times]) => `${outcome} ${times}`);
  console.log(`      ${count} ${what}, ${Math.round(count / seconds)} a second: ${outcomes.join(", ")}`);
  if (asked !== undefined) return;
  const missed = Object.entries(reaches).filter(([outcome, times]) => (seen.get(outcome) ?? 0) < times);
  if (missed.length > 0) throw new Error(`too seldom: ${missed.map(([outcome]) => outcome).join(", ")}`);
}

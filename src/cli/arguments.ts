import { UsageError } from "./exit-code.ts";
import { type Flag, type FlagName, type FlagValues, flags } from "./flags.ts";
import { didYouMean } from "./nearest.ts";

/** PURE data: a command line, taken apart. */
export interface ParsedArguments {
  /** What is no flag, in order: the command and its arguments. */
  readonly words: readonly string[];
  readonly values: FlagValues;
}

const table: { readonly [name: string]: Flag } = flags;
const names = Object.keys(flags) as FlagName[];

/**
 * PURE. The command line as kubectl reads one: --flag VALUE, --flag=VALUE, -f VALUE, -fVALUE, -f=VALUE, switches alone
 * or together (-vw) or with =true and =false, flags and words in any order, and after `--` words only.
 * @throws UsageError which names the flag, and the nearest one if there is no such flag
 */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const words: string[] = [];
  const values: { [name in FlagName]?: string } = {};
  const rest = [...argv];

  const take = (name: FlagName, given: string | undefined, as: string): void => {
    const { value } = table[name] ?? {};
    if (value === undefined) {
      if (given !== undefined && given !== "true" && given !== "false")
        throw new UsageError(`${as} is a switch: it takes true or false, not ${JSON.stringify(given)}`);
      if (given === "false") delete values[name];
      else values[name] = "true";
      return;
    }
    const text = given ?? rest.shift();
    if (text === undefined) throw new UsageError(`${as} needs a value: ${as} ${value}`);
    values[name] = text;
  };

  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      words.push(...rest.splice(0));
    } else if (word.startsWith("--")) {
      const [, typed = "", given] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
      const name = names.find((known) => known === typed);
      if (name === undefined) {
        const meant = didYouMean(typed, names).replace("mean ", "mean --");
        throw new UsageError(`unknown flag --${typed}${meant}`);
      }
      take(name, given, `--${name}`);
    } else if (word.startsWith("-") && word !== "-") {
      readShort(word.slice(1), take);
    } else {
      words.push(word);
    }
  }
  return { words, values };
}

function readShort(letters: string, give: (name: FlagName, given: string | undefined, as: string) => void): void {
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    const name = names.find((known) => table[known]?.short === letter);
    if (name === undefined)
      throw new UsageError(`unknown flag -${letter}${letters === letter ? "" : ` in -${letters}`}`);
    const takesValue = table[name]?.value !== undefined;
    const behind = takesValue || letters[at + 1] === "=" ? letters.slice(at + 1).replace(/^=/, "") : undefined;
    give(name, at + 1 < letters.length ? behind : undefined, `-${letter}`);
    if (behind !== undefined) return;
  }
}

/** PURE. A duration such as 90s, 5m, 1h30m, or seconds without a unit, in milliseconds. @throws UsageError */
export function parseDuration(text: string, flag: string): number {
  const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
  const match = /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text);
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!match) throw new UsageError(`${flag}: ${JSON.stringify(text)} is no duration such as 30s, 5m or 1h`);
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g))
    sum += Number(number) * units[unit as keyof typeof units];
  return sum;
}

// Code in the documentation: what is in it, and what a test is told about it by comments right above it.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";

/**
 * What a comment above a block may say, as `<!-- not run: why -->`:
 * - `not run`: why the block is not carried out.
 * - `file`: under which name the block is written where the commands of the page run.
 * - `part of`: of which object the YAML is a part, as `Pod spec`; the test makes the rest.
 * - `before`: a line of commands that a reader need not see, run first.
 * - `needs`: what the machine must have, as `need` knows it.
 */
const directives = ["not run", "file", "part of", "before", "needs"] as const;
type Directive = (typeof directives)[number];

export interface Block {
  readonly page: string;
  /** Of its first fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly told: ReadonlyMap<Directive, readonly string[]>;
}

/** Languages of blocks; one without is a drawing or a form, nothing to be carried out. */
export const languages = ["sh", "console", "yaml", "ts", ""] as const;

/**
 * Pages whose commands need a cluster of their own, or faults in one: test/cluster/cli.test.ts and
 * test/cluster/explained.
 */
export const runElsewhere: readonly string[] = ["docs/kubectl-nvi.md", "docs/explained-faults.md"];

/** Every page that users read. */
export function pages(): string[] {
  return ["README.md", ...globSync("docs/**/*.md", { cwd: root }).sort()];
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

export function blocksOf(page: string): Block[] {
  return parseBlocks(page, readPage(page));
}

/** PURE. @throws Error for a comment that is none of `directives`, and a block without an end */
export function parseBlocks(page: string, text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = "", language = ""] = /^( *)```(\S*)$/.exec(lines[index] ?? "") ?? ["", undefined];
    if (!/^ *```/.test(lines[index] ?? "")) continue;
    const end = lines.findIndex((line, at) => at > index && line.trim() === "```");
    if (end < 0) throw new Error(`${page}:${index + 1}: the block has no end`);
    const content = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
    blocks.push({
      page,
      line: index + 1,
      language,
      text: content.map((line) => `${line}\n`).join(""),
      told: toldAbove(page, lines, index),
    });
    index = end;
  }
  return blocks;
}

function toldAbove(page: string, lines: readonly string[], fence: number): Map<Directive, string[]> {
  const told = new Map<Directive, string[]>();
  for (let at = fence - 1; at >= 0; at -= 1) {
    const [, key, value = ""] = /^ *<!-- ([a-z ]+): (.*) -->$/.exec(lines[at] ?? "") ?? [];
    if (key === undefined) break;
    const directive = directives.find((one) => one === key);
    if (directive === undefined) throw new Error(`${page}:${at + 1}: "${key}" is none of ${directives.join(", ")}`);
    told.set(directive, [value, ...(told.get(directive) ?? [])]);
  }
  return told;
}

/** What a console shows: a line that was typed, on which machine, and what came of it. */
export interface Typed {
  /** `$` is where kubectl is, all else the name of a node on which root types. */
  readonly where: string;
  readonly command: string;
  readonly output: string;
}

/** PURE. @throws Error if the block does not begin with a prompt */
export function parseConsole({ page, line, text }: Pick<Block, "page" | "line" | "text">): Typed[] {
  const typed: Typed[] = [];
  for (const one of text.split(/(?<=\n)/)) {
    const [, prompt = "", command] = /^(\$|[a-z][a-z0-9-]*#) (.*)\n$/.exec(one) ?? [];
    const last = typed.at(-1);
    if (command !== undefined) typed.push({ where: prompt.replace("#", ""), command, output: "" });
    else if (last === undefined) throw new Error(`${page}:${line}: begins with no prompt ("$ ", "node-1# ")`);
    else if (last.output === "" && last.command.endsWith("\\"))
      typed[typed.length - 1] = { ...last, command: `${last.command}\n${one.trimEnd()}` };
    else typed[typed.length - 1] = { ...last, output: last.output + one };
  }
  return typed;
}

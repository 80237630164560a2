import type { TestResult } from "./results.ts";

/** One line of a list of tests: `lane | title | …`. */
export interface TitleLine {
  readonly lane: string;
  /** A whole title, or the beginning of one followed by "*". */
  readonly title: string;
  /** What follows the title. */
  readonly rest: readonly string[];
}

/**
 * The lines of a list of tests; empty lines and those that begin with # are passed over.
 * @param columns the names of all columns, `lane` and `title` first
 * @throws Error that names the line with another number of columns, or an empty one
 */
export function parseTitleList(file: string, text: string, columns: readonly string[]): TitleLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const parts = line.split("|").map((part) => part.trim());
      const [lane = "", title = "", ...rest] = parts;
      if (parts.length !== columns.length || parts.includes(""))
        throw new Error(`${file}:${number}: must be "${columns.join(" | ")}"`);
      return { lane, title, rest };
    });
}

/** Whether the line names the test. */
export function names(line: Pick<TitleLine, "lane" | "title">, test: Pick<TestResult, "lane" | "title">): boolean {
  if (line.lane !== test.lane) return false;
  return line.title.endsWith("*") ? test.title.startsWith(line.title.slice(0, -1)) : test.title === line.title;
}

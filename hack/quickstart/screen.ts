import { messageOf } from "../../src/errors.ts";
import { StepError } from "../lib/process.ts";

/** What is needed of a stream, which may be a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where the demonstration writes. */
export interface Screen {
  /** A step begins. */
  step(text: string): void;
  /** Something about the step that runs. */
  note(text: string): void;
  /** Text as it is, such as a table of kubectl. */
  block(text: string): void;
  /** Shows `lines` in place of those shown before: redrawn on a terminal; elsewhere not before they settle. */
  live(lines: readonly string[]): void;
  /** The live lines stay as they are now. */
  settle(): void;
}

/** The same without live lines. */
export const silent = (screen: Screen): Screen => ({ ...screen, live: () => undefined, settle: () => undefined });

export function createScreen(out: Terminal): Screen {
  let shown: readonly string[] = [];
  const clear = () => {
    if (out.isTTY && shown.length > 0) out.write(`\x1b[${shown.length}A\x1b[J`);
  };
  const write = (lines: readonly string[]) => {
    const width = out.isTTY ? (out.columns || 80) - 5 : Number.POSITIVE_INFINITY;
    for (const text of lines) out.write(`    ${text.length > width ? `${text.slice(0, width - 1)}…` : text}\n`);
  };
  const line = (text: string) => {
    shown = [];
    out.write(`${text}\n`);
  };
  return {
    step: (text) => line(out.isTTY ? `\n\x1b[1m==> ${text}\x1b[0m` : `==> ${text}`),
    note: (text) => line(`    ${text}`),
    block: (text) =>
      line(
        text
          .trimEnd()
          .split("\n")
          .map((l) => `    ${l}`)
          .join("\n"),
      ),
    live(lines) {
      clear();
      if (out.isTTY) write(lines);
      shown = lines;
    },
    settle: () => {
      if (!out.isTTY) write(shown);
      shown = [];
    },
  };
}

/** What happened, the end of the log of what failed, and what to do. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof StepError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
    return `\nquickstart failed: ${stack}\n`;
  }
  const details = error.details.map((text) => `  | ${text}\n`).join("");
  return `\nquickstart failed: ${error.message}\n${details}what to do: ${error.remedy}\n`;
}

import { printable } from "../api/values/printable.ts";

/** A column of a table. */
export interface Column<T> {
  readonly name: string;
  readonly of: (row: T) => string | undefined;
  /** Shown with -o wide only. */
  readonly wide?: true;
}

/** How a table is printed. */
export interface TableOptions {
  readonly wide?: boolean;
  readonly headers?: boolean;
  /** Least widths of the columns; they grow with what is shown, so that what is shown later stands beneath it. */
  readonly widths?: number[];
}

/**
 * PURE. Rows as kubectl shows them: columns three spaces apart, nothing behind the last one, `<none>` for what is not
 * there. What comes from objects was written by others: it is shown on one line, without characters that a terminal
 * would obey.
 */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[], options: TableOptions = {}): string {
  const shown = columns.filter(({ wide }) => wide !== true || options.wide === true);
  const cells = rows.map((row) => shown.map(({ of }) => printable(of(row) ?? "") || "<none>"));
  if (options.headers !== false) cells.unshift(shown.map(({ name }) => name));
  return aligned(cells, options.widths);
}

/** PURE. Lines of cells, each column as wide as its widest cell. */
export function aligned(lines: readonly (readonly string[])[], widths: number[] = []): string {
  for (const line of lines)
    line.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, [...cell].length);
    });
  const pad = (cell: string, at: number) => cell + " ".repeat((widths[at] ?? 0) - [...cell].length);
  return lines.map((line) => `${line.map(pad).join("   ").trimEnd()}\n`).join("");
}

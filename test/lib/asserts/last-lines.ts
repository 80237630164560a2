/** How many lines of a program's output say why it failed. */
const usual = 8;

/** The end of what a program has said, for a message whose beginning is all that a summary shows. */
export function lastLines(output: string, count = usual): string {
  const lines = output
    .trimEnd()
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines
    .slice(-count)
    .map((line) => `  | ${line}`)
    .join("\n");
}

/** @throws Error with the code first, then the end of the output, then all of it */
export function expectCode(code: number | null, expected: number, output: string): void {
  if (code === expected) return;
  throw new Error(
    `it ended with ${code}, not ${expected}, and said last\n${lastLines(output)}\nall it said:\n${output}`,
  );
}

import type { OutputFigures } from "./outputs.ts";

/** Where was looked for Secrets, and what was found. */
export function figuresOfOutputs(outputs: readonly OutputFigures[]): string[] {
  const found = outputs.reduce((sum, { canaries }) => sum + canaries, 0);
  const where = outputs.map((it) => `${it.where} ${(it.bytes / 1024).toFixed(0)} KiB`).join(", ");
  return [`canaries of Secrets: ${found}, in ${where}`];
}

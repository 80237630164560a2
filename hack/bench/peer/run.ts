import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Sample } from "../report/row.ts";

/** Runs the peer's program once: it makes a mount namespace and a root directory of its own, and ends with both. */
export async function peerSample(program: string, args: readonly string[]): Promise<Sample> {
  const { stdout } = await promisify(execFile)(program, [...args], { maxBuffer: 16 * 1024 * 1024 });
  return parseSample(stdout);
}

/** PURE. The figures of the last line of JSON; what is not a number is left out, and true counts as 1. */
export function parseSample(output: string): Sample {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  const object = JSON.parse(last) as { [field: string]: unknown };
  const figures = Object.entries(object).flatMap(([name, value]) => {
    if (typeof value === "boolean") return [[name, Number(value)] as const];
    return typeof value === "number" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(figures);
}

import { printable } from "../../api/values/printable.ts";
import type { CheckResult } from "./result.ts";

const mark = { Ok: "✓", Limited: "!", Failed: "✗", Unknown: "?" } as const;

/** PURE. Results for people: a line each, what to do beneath it, and a sum. */
export function rendered(results: readonly CheckResult[]): string {
  const width = Math.max(0, ...results.map(({ check }) => check.length));
  const lines = results.flatMap(({ check, result, found, remedy }) => [
    `${mark[result]} ${check.padEnd(width)}   ${found}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(width + 5)}→ ${remedy}`]),
  ]);
  return [...lines, sum(results)].map((line) => `${printable(line)}\n`).join("");
}

function sum(results: readonly CheckResult[]): string {
  const of = (result: CheckResult["result"]) => results.filter((one) => one.result === result).length;
  const text = (count: number, one: string, many: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  const found = [
    ...text(of("Failed"), "problem", "problems"),
    ...text(of("Limited"), "limit", "limits"),
    ...text(of("Unknown"), "not checked", "not checked"),
  ];
  return found.length === 0
    ? "No problems found."
    : `${of("Failed") === 0 ? "No problems found. " : ""}${found.join(", ")}.`;
}

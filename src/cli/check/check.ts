import { printable } from "../../api/values/printable.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { formatOf, serialized } from "../output.ts";
import { checksAfter, checksBefore } from "./checks.ts";
import { gatherAfter, gatherBefore } from "./gather.ts";
import type { CheckResult } from "./result.ts";

export const checkCommand: Command = {
  name: "check",
  args: [],
  summary: "Whether the installation works; with --pre, whether the cluster is ready for it",
  details: [
    "Each line has what was checked, what was found, and what to do: ✓ works, ! works with a limit, ✗ someone must act, ? not checked.",
    "With --pre: version and features of Kubernetes, your rights, the namespace, nodes, and leftovers of an earlier installation.",
    "It changes nothing. Exits with 0 if there is no ✗, and with 1 if there is one.",
  ].join("\n"),
  flags: ["pre"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi check --pre", "kubectl nvi check", "kubectl nvi check -o json"],
  async run({ values, context }) {
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const { version } = context;
    const checks =
      values.pre === undefined
        ? checksAfter(await gatherAfter(cluster), context.system.clock.now(), version)
        : checksBefore(await gatherBefore(cluster), version);
    context.terminal.out(format === undefined ? rendered(checks) : serialized({ checks }, format as "json" | "yaml"));
    return checks.some(({ result }) => result === "Failed") ? exitCode.no : exitCode.done;
  },
};

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

import { printable } from "../../api/values/printable.ts";
import type { Explanation, Finding } from "../../explain/finding.ts";
import { age, duration } from "../age.ts";

const mark = { done: "✓", waiting: "…", blocked: "✗", unknown: "?" } as const;

/** PURE. An explanation for people. @param now milliseconds since the epoch */
export function rendered(explanation: Explanation, now: number): string {
  const lines = wrapped(explanation.summary, "", "  ");
  const advised = new Set<string>();
  for (const { title, findings } of explanation.chains) {
    lines.push("", title);
    findings.forEach((finding, at) => {
      const again = finding.todo !== undefined && finding.todo.length > 80 && advised.has(finding.todo);
      advised.add(finding.todo ?? "");
      lines.push(
        ...linesOf(
          again ? { ...finding, todo: "as above" } : finding,
          now,
          at > 0 && finding.state !== "done" && findings[at - 1]?.state !== "done",
        ),
      );
    });
  }
  if (explanation.notRead.length > 0)
    lines.push(
      "",
      ...wrapped(`Not known, because ${together(explanation.notRead)}. The answer may be incomplete.`, "", ""),
    );
  return `${lines.map((line) => printable(line)).join("\n")}\n`;
}

function linesOf(finding: Finding, now: number, because: boolean): string[] {
  const { state, code, text, quote, since, attempts, nextRetryTime, todo } = finding;
  const joint = !because ? "" : finding.also === true ? "also, " : "because ";
  const for_ = age(since, now);
  const facts = [
    ...(state === "done" || text.includes(code) ? [] : [code]),
    ...(for_ === "" ? [] : [`for ${for_}`]),
    ...(attempts === undefined || attempts < 2 ? [] : [`${attempts} attempts`]),
    ...retry(nextRetryTime, now),
  ];
  const inBrackets = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const lines = wrapped(`${joint}${text}${inBrackets}`, `  ${mark[state]} `, "    ");
  if (quote !== undefined) lines.push(...wrapped(`"${quote.trim()}"`, "      ", "      "));
  if (todo !== undefined && todo !== "") lines.push(...wrapped(todo, "    → ", "      "));
  return lines;
}

/** What begins alike is said once: "you may not read pods, events". */
function together(reasons: readonly string[]): string {
  const common = "you may not read ";
  const refused = reasons.filter((reason) => reason.startsWith(common)).map((reason) => reason.slice(common.length));
  const others = reasons.filter((reason) => !reason.startsWith(common));
  return [...(refused.length === 0 ? [] : [common + refused.join(", ")]), ...others].join("; ");
}

function retry(time: string | undefined, now: number): string[] {
  const at = Date.parse(time ?? "");
  if (Number.isNaN(at)) return [];
  return [at > now ? `next attempt in ${duration(at - now)}` : "next attempt is due"];
}

const widest = 100;

function wrapped(text: string, first: string, next: string): string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(/\s+/)) {
    const empty = line === first || line === next;
    if (!empty && line.length + 1 + word.length > widest) {
      lines.push(line);
      line = next + word;
    } else line += empty ? word : ` ${word}`;
  }
  return [...lines, line];
}

import { printable } from "../../api/printable.ts";
import { age, duration } from "../age.ts";

/** A cause, or a part of the way that is done. The chain goes from what people see to what has to change. */
export interface Finding {
  /** done: it is as it should be. waiting: it ends by itself or by somebody else's work. blocked: somebody must change something. */
  readonly state: "done" | "waiting" | "blocked" | "unknown";
  /** A reason of docs/reasons.md, or one of explain's own (docs/kubectl-nvi.md). */
  readonly code: string;
  readonly text: string;
  /** Somebody else's words, as they are. */
  readonly quote?: string;
  readonly since?: string;
  readonly attempts?: number;
  readonly nextRetryTime?: string;
  /** What is waited for, or who has it. */
  readonly on?: { readonly kind: string; readonly namespace?: string; readonly name: string; readonly node?: string };
  /** It has nothing to do with the finding before it. */
  readonly also?: true;
  /** What to do; empty if there is nothing to do. */
  readonly todo?: string;
}

export interface Chain {
  /** `volume data (claim data)`. */
  readonly title: string;
  readonly findings: readonly Finding[];
}

export interface Explanation {
  readonly subject: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** In one line, how it is. */
  readonly summary: string;
  readonly chains: readonly Chain[];
  /** What could not be read, which may be why something is missing above. */
  readonly notRead: readonly string[];
}

const mark = { done: "✓", waiting: "…", blocked: "✗", unknown: "?" } as const;

/** PURE. An explanation for people. @param now milliseconds since the epoch */
export function rendered(explanation: Explanation, now: number): string {
  const lines = [explanation.summary];
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
  const lines = wrapped(`${joint}${text}`, `  ${mark[state]} `, "    ");
  if (facts.length > 0) lines[lines.length - 1] += ` (${facts.join(", ")})`;
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

const widest = 110;

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

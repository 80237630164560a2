import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { names, parseTitleList } from "./title-list.ts";

/** One line of test/quarantine.txt: a flaky test that `npm test` leaves out until its cause is mended. */
export interface Quarantined {
  readonly lane: string;
  /** A whole title, or the beginning of one followed by "*". */
  readonly title: string;
  /** Day from which on it is there, as 2026-11-27. */
  readonly since: string;
  readonly why: string;
}

/** Days that a test may stay in quarantine. */
const longestDays = 14;

/** @throws Error naming the line that is not `lane | title | since | why` */
export function parseQuarantine(text: string): Quarantined[] {
  const columns = ["lane", "title", "since", "why"];
  return parseTitleList("test/quarantine.txt", text, columns).map(({ lane, title, rest: [since = "", why = ""] }) => {
    if (!/^\d{4}-\d\d-\d\d$/.test(since) || Number.isNaN(Date.parse(since)))
      throw new Error(
        `test/quarantine.txt: since when ${title} is there must be a day, as 2026-11-27, and is ${since}`,
      );
    if (title === "*")
      throw new Error(`test/quarantine.txt: name the tests of ${lane}: a whole lane is never left out`);
    return { lane, title, since, why };
  });
}

/** The lines of test/quarantine.txt; none if there is no such file. */
export function readQuarantine(): Quarantined[] {
  const file = join(root, "test/quarantine.txt");
  return parseQuarantine(existsSync(file) ? readFileSync(file, "utf8") : "");
}

export function isQuarantined(list: readonly Quarantined[], test: { readonly lane: string; readonly title: string }) {
  return list.some((line) => names(line, test));
}

/** The lines that stand there for too long, each with what to do. */
export function overdue(list: readonly Quarantined[], now: Date): string[] {
  return list.flatMap(({ lane, title, since }) => {
    const days = Math.floor((now.getTime() - Date.parse(since)) / 86_400_000);
    if (days < 0) return [`${lane}: ${title} is in test/quarantine.txt since ${since}, which is yet to come`];
    if (days <= longestDays) return [];
    return [`${lane}: ${title} is in test/quarantine.txt for ${days} days, ${longestDays} at most: mend or remove it`];
  });
}

/** A behaviour of docs/conformance.md. */
interface Row {
  readonly number: number;
  readonly group: string;
  readonly cells: { readonly name: string; readonly kubelet: string; readonly verdict: string; readonly here: string };
}

/**
 * A test that is named as proof, on a line `- 12: unit: ` with file and title as code; the title may have a line of its
 * own.
 */
interface Proof {
  readonly number: number;
  readonly lane: string;
  readonly file: string;
  readonly title: string;
}

/** A row of the summary. */
interface Count {
  readonly group: string;
  readonly range: string;
  readonly matched: number;
  readonly improved: number;
  readonly notYet: number;
}

export interface ConformanceDoc {
  readonly rows: readonly Row[];
  readonly proofs: readonly Proof[];
  readonly counts: readonly Count[];
}

/** @throws Error naming a line that belongs to a table or a list of proofs and has not its form */
export function parseConformance(text: string): ConformanceDoc {
  const rows: Row[] = [];
  const proofs: Proof[] = [];
  const counts: Count[] = [];
  let group = "";
  for (const line of text.replace(/`\n {2}`/g, "` `").split("\n")) {
    if (line.startsWith("## ")) group = line.slice(3);
    else if (group === "Summary") counts.push(...countOf(line));
    else if (/^\| \d/.test(line)) rows.push(rowOf(line, group));
    else if (/^- \d/.test(line)) proofs.push(proofOf(line));
  }
  return { rows, proofs, counts };
}

function rowOf(line: string, group: string): Row {
  const cells = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  const [number, name, kubelet, verdict, here, ...rest] = cells;
  if (!name || !kubelet || !verdict || here === undefined || rest.length > 0) throw new Error(`not a row: ${line}`);
  return { number: Number(number), group, cells: { name, kubelet, verdict, here } };
}

function proofOf(line: string): Proof {
  const match = /^- (\d+): ([a-z0-9]+): `((?:[\w./-]+\.test|points\/[a-z-]+)\.ts)` `(.+)`$/.exec(line);
  const [, number, lane, file, title] = match ?? [];
  if (!lane || !file || !title) throw new Error(`not a proof: ${line}`);
  return { number: Number(number), lane, file, title };
}

function countOf(line: string): Count[] {
  const match = /^\| (.+) \| (\d+–\d+) \| (\d+) \| (\d+) \| (\d+) \|$/.exec(line);
  const [, group = "", range = "", ...numbers] = match ?? [];
  const [matched = 0, improved = 0, notYet = 0] = numbers.map(Number);
  return match === null ? [] : [{ group, range, matched, improved, notYet }];
}

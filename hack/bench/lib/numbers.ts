import type { Sample } from "../report/row.ts";

/** PURE. A row without its texts. */
export function numbersOf(row: { readonly [figure: string]: number | string }): Sample {
  const isNumber = (entry: [string, number | string]): entry is [string, number] => typeof entry[1] === "number";
  return Object.fromEntries(Object.entries(row).filter(isNumber));
}

import { allowedSetLabelPrefix } from "../../src/api/names.ts";

/** Labels by which a claim allows sets to use its volume (decision 0106). */
export function allowing(...sets: readonly string[]): { [key: string]: string } {
  return Object.fromEntries(sets.map((set) => [allowedSetLabelPrefix + set, "true"]));
}

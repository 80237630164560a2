// x-kubernetes-validations → rules that src/api/rules/check-rules.ts runs, so that an agent refuses what the API server
// does.
import type { Schema } from "./crds.ts";

export interface CelRule {
  rule: string;
  optionalOldSelf?: boolean;
  message: string;
  fieldPath?: string;
}

/** The id of a rule, as a comment of CEL at its end: its check in code has that name (src/api/rules/rules.ts). */
const ruleID = / \/\/ (\w+)$/;
const text = "r'([^']*)'";
const matches = new RegExp(`^self\\.matches\\(${text}\\)$`);
const matchesNot = new RegExp(`^!self\\.matches\\(${text}\\)$`);
const oneOf = /^self in \[((?:'[^']*'(?:, )?)+)\]$/;
const range = /^self >= (-?\d+) && self <= (-?\d+)$/;

/**
 * The rules of a schema node, and those that no CRD has (crds/rules-in-code.yaml). The forms `self.matches(r'…')`,
 * `!self.matches(r'…')`, `self in ['…']` and `self >= N && self <= M` are translated; any other is known to the code by
 * its id and gets the patterns that stand in it. Rules that compare with oldSelf are left out: they speak of an
 * update, which only the API server sees. With optionalOldSelf they hold for a creation too, and are only spared while
 * nothing changes.
 */
export function rulesOf(node: Schema): Schema[] {
  const rules = (node["x-kubernetes-validations"] as CelRule[] | undefined) ?? [];
  const inCode = (node["rulesInCode"] as Schema[] | undefined) ?? [];
  return [...rules.filter((rule) => !isTransition(rule)).map(translate), ...inCode];
}

/** Whether a rule speaks of an update only. */
export function isTransition({ rule, optionalOldSelf }: CelRule): boolean {
  return rule.includes("oldSelf") && optionalOldSelf !== true;
}

/** The values of a node that may only have certain ones, by a rule of the form `self in ['…']`. */
export function valuesOf(rules: readonly Schema[]): readonly string[] | undefined {
  return rules.map((rule) => rule["oneOf"] as string[] | undefined).find((values) => values !== undefined);
}

function translate({ rule, message, fieldPath }: CelRule): Schema {
  const out: Schema = { message, ...(fieldPath === undefined ? {} : { field: fieldPath }) };
  const pattern = matches.exec(rule)?.[1];
  if (pattern !== undefined) return { ...out, matches: pattern };
  const unwanted = matchesNot.exec(rule)?.[1];
  if (unwanted !== undefined) return { ...out, matchesNot: unwanted };
  const values = oneOf.exec(rule)?.[1];
  if (values !== undefined) return { ...out, oneOf: values.split(", ").map((value) => value.slice(1, -1)) };
  const [, from, to] = range.exec(rule) ?? [];
  if (from !== undefined) return { ...out, from: Number(from), to: Number(to) };
  const check = ruleID.exec(rule)?.[1];
  if (check === undefined) throw new Error(`a rule needs the id of its check, as a comment at its end: ${rule}`);
  const patterns = [...rule.matchAll(new RegExp(`\\b${text}`, "g"))].map(([, found]) => found);
  return { ...out, check, ...(patterns.length > 0 && { patterns }) };
}

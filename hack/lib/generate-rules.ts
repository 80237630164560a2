// x-kubernetes-validations → rules that src/api/check-rules.ts runs, so that an agent refuses what the API server does.
import type { Schema } from "./generate-api.ts";

export interface CelRule {
  rule: string;
  optionalOldSelf?: boolean;
  message: string;
  fieldPath?: string;
}

const text = "r'([^']*)'";
const matches = new RegExp(`^self\\.matches\\(${text}\\)$`);
const oneOf = /^self in \[((?:'[^']*'(?:, )?)+)\]$/;
const range = /^self >= (-?\d+) && self <= (-?\d+)$/;

/**
 * The rules of a schema node. The forms `self.matches(r'…')`, `self in ['…']` and `self >= N && self <= M` are
 * translated; any other is known to the code by its message and gets the patterns that stand in it. Rules that compare
 * with oldSelf are left out: they speak of an update, which only the API server sees. With optionalOldSelf they hold for
 * a creation too, and are only spared while nothing changes.
 */
export function rulesOf(node: Schema): Schema[] {
  const rules = (node["x-kubernetes-validations"] as CelRule[] | undefined) ?? [];
  return rules.filter((rule) => !isTransition(rule)).map(translate);
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
  const values = oneOf.exec(rule)?.[1];
  if (values !== undefined) return { ...out, oneOf: values.split(", ").map((value) => value.slice(1, -1)) };
  const [, from, to] = range.exec(rule) ?? [];
  if (from !== undefined) return { ...out, from: Number(from), to: Number(to) };
  const patterns = [...rule.matchAll(new RegExp(`\\b${text}`, "g"))].map(([, found]) => found);
  return patterns.length === 0 ? out : { ...out, patterns };
}

import type { Rule } from "./rule.ts";
import { checkOf } from "./rules.ts";

/** A field that is not as the API wants it. */
export interface FieldError {
  /** As in `.spec.mounts[0].path`; "" is the object itself. */
  readonly path: string;
  /** What is wanted, as a sentence. */
  readonly message: string;
}

/** The part of a JSON schema that carries rules. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly items?: SchemaNode;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly rules?: readonly Rule[];
  /** Fields of an entry that no two entries of the list may have in common. */
  readonly mapKeys?: readonly string[];
}

export type Definitions = { readonly [title: string]: SchemaNode };

/**
 * The rules of `node` and beneath that `value` breaks. `value` must have the structure that the schema asks for: the
 * rules speak of fields as if they were there and of their type.
 */
export function brokenRules(definitions: Definitions, node: SchemaNode, value: unknown, path = ""): FieldError[] {
  const schema = resolve(definitions, node);
  if (schema === undefined || value === undefined) return [];
  const errors: FieldError[] = [];
  for (const rule of schema.rules ?? []) {
    if (!holds(rule, value)) errors.push({ path: `${path}${rule.field ?? ""}`, message: rule.message });
  }
  if (Array.isArray(value)) {
    errors.push(...repeatedKeys(schema.mapKeys ?? [], value, path));
    const { items } = schema;
    if (items === undefined) return errors;
    return errors.concat(value.flatMap((entry, i) => brokenRules(definitions, items, entry, `${path}[${i}]`)));
  }
  if (typeof value !== "object" || value === null) return errors;
  for (const [name, field] of Object.entries(value)) {
    const known = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    if (known !== undefined) errors.push(...brokenRules(definitions, known, field, `${path}.${name}`));
    else if (typeof schema.additionalProperties === "object") {
      errors.push(...brokenRules(definitions, schema.additionalProperties, field, `${path}[${name}]`));
    }
  }
  return errors;
}

function holds(rule: Rule, value: unknown): boolean {
  if (rule.matches !== undefined) return new RegExp(rule.matches, "u").test(String(value));
  if (rule.oneOf !== undefined) return rule.oneOf.includes(String(value));
  if (rule.from !== undefined && rule.to !== undefined) return Number(value) >= rule.from && Number(value) <= rule.to;
  const patterns = (rule.patterns ?? []).map((pattern) => new RegExp(pattern, "u"));
  return checkOf(rule.message)(value as never, patterns);
}

function repeatedKeys(keys: readonly string[], entries: readonly unknown[], path: string): FieldError[] {
  if (keys.length === 0) return [];
  const seen = new Set<string>();
  return entries.flatMap((entry, i) => {
    const key = JSON.stringify(keys.map((name) => (entry as { [name: string]: unknown })[name]));
    const repeated = seen.has(key);
    seen.add(key);
    return repeated ? [{ path: `${path}[${i}].${keys.join(",")}`, message: "each entry needs one of its own" }] : [];
  });
}

function resolve(definitions: Definitions, node: SchemaNode): SchemaNode | undefined {
  return node.$ref === undefined ? node : definitions[node.$ref.replace("#/definitions/", "")];
}

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

/** Schemas of the CRDs by title. */
export type Definitions = { readonly [title: string]: SchemaNode };

/**
 * The rules of a schema node and beneath that a value breaks. The value must have the structure that the schema asks
 * for: the rules speak of fields as if they were there and of their type.
 */
export type RuleChecker = (value: unknown) => FieldError[];

/** Checks the node and what is beneath it, and tells of what is broken. */
type Visit = (value: unknown, path: string, broken: FieldError[]) => void;

/** Prepares the rules of `node` once: an agent checks every intent each time that it changes. */
export function ruleChecker(definitions: Definitions, node: SchemaNode): RuleChecker {
  const visit = new Compiler(definitions).visitOf(node);
  return (value) => {
    const broken: FieldError[] = [];
    visit?.(value, "", broken);
    return broken;
  };
}

class Compiler {
  readonly #definitions: Definitions;
  /** By node, so that definitions may name each other. */
  readonly #visits = new Map<SchemaNode, Visit | undefined>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  /** @returns undefined if neither the node nor anything beneath it has a rule: most of an object needs no visit */
  visitOf(node: SchemaNode): Visit | undefined {
    const schema = node.$ref === undefined ? node : this.#definitions[node.$ref.replace("#/definitions/", "")];
    if (schema === undefined || this.#visits.has(schema)) return schema && this.#visits.get(schema);
    let visit: Visit | undefined;
    this.#visits.set(schema, (value, path, broken) => visit?.(value, path, broken));
    visit = this.#compile(schema);
    this.#visits.set(schema, visit);
    return visit;
  }

  #compile({ rules = [], mapKeys = [], items, properties = {}, additionalProperties }: SchemaNode): Visit | undefined {
    const checks = rules.map((rule) => ({ rule, holds: checkFor(rule) }));
    const entry = items && this.visitOf(items);
    const fields = new Map(Object.entries(properties).map(([name, field]) => [name, this.visitOf(field)]));
    const others = typeof additionalProperties === "object" ? this.visitOf(additionalProperties) : undefined;
    const inside = [entry, others, ...fields.values()].some((visit) => visit !== undefined);
    if (checks.length === 0 && mapKeys.length === 0 && !inside) return undefined;
    return (value, path, broken) => {
      if (value === undefined) return;
      for (const { rule, holds } of checks) {
        if (!holds(value)) broken.push({ path: `${path}${rule.field ?? ""}`, message: rule.message });
      }
      if (Array.isArray(value)) {
        if (mapKeys.length > 0) broken.push(...repeatedKeys(mapKeys, value, path));
        if (entry !== undefined) value.forEach((each, i) => void entry(each, `${path}[${i}]`, broken));
      } else if (inside && typeof value === "object" && value !== null) {
        for (const name of Object.keys(value)) {
          const field = (value as { readonly [name: string]: unknown })[name];
          const known = fields.get(name);
          if (known !== undefined) known(field, `${path}.${name}`, broken);
          else if (others !== undefined && !fields.has(name)) others(field, `${path}[${name}]`, broken);
        }
      }
    };
  }
}

function checkFor(rule: Rule): (value: unknown) => boolean {
  const { matches, matchesNot, oneOf, from, to } = rule;
  if (matches !== undefined) {
    const pattern = new RegExp(matches, "u");
    return (value) => pattern.test(String(value));
  }
  if (matchesNot !== undefined) {
    const pattern = new RegExp(matchesNot, "u");
    return (value) => !pattern.test(String(value));
  }
  if (oneOf !== undefined) return (value) => oneOf.includes(String(value));
  if (from !== undefined && to !== undefined) return (value) => Number(value) >= from && Number(value) <= to;
  const check = checkOf(rule.check);
  const patterns = (rule.patterns ?? []).map((pattern) => new RegExp(pattern, "u"));
  return (value) => check(value as never, patterns);
}

function repeatedKeys(keys: readonly string[], entries: readonly unknown[], path: string): FieldError[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, i) => {
    const key = JSON.stringify(keys.map((name) => (entry as { [name: string]: unknown })[name]));
    const repeated = seen.has(key);
    seen.add(key);
    return repeated ? [{ path: `${path}[${i}].${keys.join(",")}`, message: "each entry needs one of its own" }] : [];
  });
}

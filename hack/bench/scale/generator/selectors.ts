import type { Base } from "./collection.ts";
import type { Change } from "./watch-log.ts";

/** Which objects a list or watch shows. */
export interface Selector {
  /** Of a parsed object. */
  matches(object: unknown): boolean;
  /** Whether all generated objects match, or none; undefined: each has to be looked at. */
  generated(base: Base | undefined): boolean | undefined;
}

type Requirement = { readonly path: readonly string[]; readonly not: boolean; readonly value: string | undefined };

/**
 * PURE. fieldSelector and labelSelector as our controller and agents use them: fields `a.b=c`, `a.b!=c`; labels `a`,
 * `a=b`.
 * @returns undefined: everything
 */
export function selectorOf(fields: string | null, labels: string | null): Selector | undefined {
  const all = [
    ...split(fields).map((text) => requirement(text, (path) => path.split("."))),
    ...split(labels).map((text) => requirement(text, (name) => ["metadata", "labels", name])),
  ];
  if (all.length === 0) return undefined;
  return {
    matches: (object) => all.every((one) => meets(valueAt(object, one.path), one)),
    generated(base) {
      const known = base?.fields ?? {};
      if (!all.every(({ path }) => path.join(".") in known)) return undefined;
      return all.every((one) => meets(known[one.path.join(".")], one));
    },
  };
}

/**
 * PURE. A change as a watch with this selector sees it: what comes to match is new to it, what no longer does is gone.
 */
export function seenBy(selector: Selector | undefined, change: Change): Change["type"] | undefined {
  if (selector === undefined) return change.type;
  const matches = (text: string | undefined) => text !== undefined && selector.matches(JSON.parse(text));
  const now = change.type !== "DELETED" && matches(change.text);
  const was = matches(change.before);
  if (now) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
}

function split(text: string | null): string[] {
  return (text ?? "").split(",").filter((part) => part !== "");
}

function requirement(text: string, pathOf: (name: string) => string[]): Requirement {
  const [, name = "", operator, value] = /^([^!=]+)(?:(!?=)=?(.*))?$/.exec(text) ?? [];
  if (name === "") throw new Error(`the generator does not understand the selector ${text}`);
  return { path: pathOf(name), not: operator === "!=", value: operator === undefined ? undefined : value };
}

function meets(found: string | undefined, { not, value }: Requirement): boolean {
  if (value === undefined) return found !== undefined;
  return (found === value) !== not;
}

function valueAt(object: unknown, path: readonly string[]): string | undefined {
  let value = object;
  for (const key of path) value = (value as { [key: string]: unknown } | undefined)?.[key];
  return value === undefined ? undefined : String(value);
}

import type { Schema } from "../crds.ts";

interface Rule {
  readonly message: string;
  readonly fieldPath?: string;
}

/** A rule that no CRD has. */
interface RuleInCode {
  readonly message: string;
  readonly field?: string;
}

/** PURE. What a field holds, in words: `list of string`, `map of string to string`. */
export function typeOf(schema: Schema): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  const items = schema["items"] as Schema | undefined;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const values = schema["additionalProperties"] as Schema | undefined;
  if (values !== undefined) return `map of string to ${typeOf(values)}`;
  const { format, type } = schema as { format?: string; type?: string };
  return format === "date-time" ? "time" : (type ?? "object");
}

/** PURE. The schema of what a list or map holds, or the schema itself. */
export function elementOf(schema: Schema): Schema {
  const inner = (schema["items"] ?? schema["additionalProperties"]) as Schema | undefined;
  return inner === undefined ? schema : elementOf(inner);
}

/** PURE. What a field takes: its values, its length, its entries. */
export function limitsOf(schema: Schema): string[] {
  const number = (key: string) => schema[key] as number | undefined;
  const limits: string[] = [];
  const values = schema["enum"] as unknown[] | undefined;
  if (values !== undefined) limits.push(`one of ${values.map((value) => code(value)).join(", ")}`);
  const bounds = (least: string, most: string, what: string) => {
    const [from, to] = [number(least), number(most)];
    if (from !== undefined && to !== undefined) limits.push(`${from} to ${to}${what}`);
    else if (from !== undefined) limits.push(`at least ${from}${what}`);
    else if (to !== undefined) limits.push(`at most ${to}${what}`);
  };
  bounds("minimum", "maximum", "");
  bounds("minLength", "maxLength", " characters");
  bounds("minItems", "maxItems", " entries");
  bounds("minProperties", "maxProperties", " entries");
  const keys = schema["x-kubernetes-list-map-keys"] as string[] | undefined;
  if (keys !== undefined) limits.push(`each ${keys.map(code).join(" and ")} once`);
  if (schema["x-kubernetes-list-type"] === "set") limits.push("each entry once");
  const pattern = schema["pattern"] as string | undefined;
  if (pattern !== undefined) limits.push(`matches ${code(pattern)}`);
  const inner = (schema["items"] ?? schema["additionalProperties"]) as Schema | undefined;
  const ofEntries = inner === undefined ? [] : limitsOf(inner);
  return [...limits, ...(ofEntries.length > 0 ? [`each entry: ${ofEntries.join(", ")}`] : [])];
}

/** PURE. What is said when a rule is broken, with the field that is named if that is another. */
export function messagesOf(schema: Schema): string[] {
  const rules = (schema["x-kubernetes-validations"] as Rule[] | undefined) ?? [];
  const inCode = (schema["rulesInCode"] as RuleInCode[] | undefined) ?? [];
  const at = (path: string | undefined, message: string) =>
    path === undefined ? message : `${code(path.slice(1))}: ${message}`;
  const texts = [
    ...rules.map(({ message, fieldPath }) => at(fieldPath, message)),
    ...inCode.map(({ message, field }) => `${at(field, message)} (not checked by the API server)`),
  ];
  const inner = (schema["items"] ?? schema["additionalProperties"]) as Schema | undefined;
  // An object has a section of its own, where its rules stand.
  const ofEntries = inner === undefined || inner["properties"] !== undefined ? [] : messagesOf(inner);
  return [...new Set([...texts, ...ofEntries])];
}

/** PURE. A value as code. */
export function code(value: unknown): string {
  return `\`${typeof value === "string" && value !== "" ? value : JSON.stringify(value)}\``;
}

/** Columns of a line of text, in a paragraph or in a cell. */
const textColumns = 120;

/** PURE. Text in lines that fit a screen; code is not broken. */
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > textColumns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** PURE. A value as it is if it fits a cell; otherwise each value in it, with its path. */
export function leavesOf(value: unknown): unknown[] {
  if (JSON.stringify(value).length <= textColumns) return [value];
  const leaves = (of: unknown, path: string): string[] => {
    if (typeof of !== "object" || of === null) return [`${path}: ${of}`];
    const at = (key: string) => (Array.isArray(of) ? `${path}[${key}]` : `${path === "" ? "" : `${path}.`}${key}`);
    return Object.entries(of).flatMap(([key, inner]) => leaves(inner, at(key)));
  };
  return leaves(value, "");
}

/** PURE. Text in a cell of a table: in code nothing but the bar is special. */
export function cell(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;")))
    .join("")
    .replaceAll("|", "\\|")
    .replace(/\s+/g, " ");
}

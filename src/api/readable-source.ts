import { schema } from "./schema.gen.ts";
import type { VolumeSource } from "./types.gen.ts";

interface Form {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: Form };
  readonly required?: readonly string[];
  readonly items?: Form;
  readonly additionalProperties?: boolean | Form;
}

const definitions = schema.definitions as unknown as { readonly [title: string]: Form };

/**
 * Twice as many levels as the deepest source has. What walks through JSON calls itself for each: thousands end a
 * process.
 */
const deepest = 16;

/**
 * PURE. The source of an intent as all may read it who do not validate the intent: what they know of it has its type.
 * The API server takes the fields of an intent's source as they are (decision 0107). One that nobody can read is none:
 * no agent carries it out. Fields of newer versions stay.
 */
export function readableSource(source: unknown): VolumeSource {
  const { VolumeSource: form } = definitions;
  return isRecord(source) && hasForm(source, form, deepest) ? source : {};
}

/** PURE. Without what lies deeper in it than any source goes, which is null then: to be validated, and compared. */
export function shallow(value: unknown): unknown {
  return hasForm(value, undefined, deepest) ? value : cut(value, deepest);
}

function hasForm(value: unknown, form: Form | undefined, levels: number): boolean {
  if (levels === 0) return false;
  const known = form?.$ref === undefined ? form : definitions[form.$ref.replace("#/definitions/", "")];
  if (known?.type !== undefined && ![known.type].flat().some((type) => isOfType(value, type))) return false;
  if (Array.isArray(value)) return value.every((one) => hasForm(one, known?.items, levels - 1));
  if (!isRecord(value)) return true;
  if (known?.required?.some((name) => value[name] === undefined)) return false;
  const { additionalProperties: others } = known ?? {};
  return Object.keys(value).every((name) => {
    const own = known?.properties !== undefined && Object.hasOwn(known.properties, name);
    const field = own ? known.properties?.[name] : typeof others === "object" ? others : undefined;
    return hasForm(value[name], field, levels - 1);
  });
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  return typeof value === (type === "integer" ? "number" : type);
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((one) => cut(one, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, levels - 1)]));
}

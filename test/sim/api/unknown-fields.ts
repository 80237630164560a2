import { schema } from "../../../src/api/schema.gen.ts";
import { isJson, type Json } from "./json.ts";

interface Schema {
  readonly $ref?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

const definitions: { readonly [name: string]: Schema } = schema.definitions as unknown as { [name: string]: Schema };

/**
 * The path of a field that the schema of a kind does not have; undefined if there is none. Metadata is not looked at.
 */
export function unknownField(kind: string, object: Json): string | undefined {
  const { apiVersion: _v, kind: _k, metadata: _m, ...rest } = object;
  const of = definitions[kind];
  return of && unknownIn(of, rest, "");
}

function unknownIn(of: Schema, value: unknown, path: string): string | undefined {
  if (of.$ref !== undefined) {
    const named = definitions[of.$ref.slice("#/definitions/".length)];
    return named && unknownIn(named, value, path);
  }
  if (Array.isArray(value)) {
    const { items } = of;
    for (let index = 0; items !== undefined && index < value.length; index++) {
      const found = unknownIn(items, value[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJson(value)) return undefined;
  for (const key in value) {
    const property = of.properties?.[key];
    if (property === undefined && of.properties !== undefined && of.additionalProperties === false)
      return `${path}.${key}`;
    const member = value[key];
    const isLeaf = typeof member !== "object" || member === null;
    const found = property && !isLeaf && unknownIn(property, member, `${path}.${key}`);
    if (typeof found === "string") return found;
  }
  return undefined;
}

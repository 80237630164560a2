import { isRecord, recordIn } from "../../kube/json.ts";

/** Fields of an object by name; `*` is every key of a map. Items of a list are taken for the list itself. */
export interface FieldTree {
  readonly [field: string]: FieldTree;
}

/** PURE. The fields of an OpenAPI schema, without those of every object: each API server shows them in its own way. */
export function fieldsOf(schema: unknown): FieldTree {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = treeOf(schema);
  return fields;
}

function treeOf(schema: unknown): FieldTree {
  const items = recordIn(schema, "items");
  if (items !== undefined) return treeOf(items);
  const values = recordIn(schema, "additionalProperties");
  const own = Object.entries(recordIn(schema, "properties") ?? {})
    .filter(([, field]) => isRecord(field))
    .map(([name, field]): [string, FieldTree] => [name, treeOf(field)]);
  return { ...Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1))), ...(values && { "*": treeOf(values) }) };
}

/** PURE. Paths of the fields that `tree` has and `other` has not, without those beneath such a field. */
export function fieldsMissing(tree: FieldTree, other: FieldTree, above = ""): string[] {
  return Object.entries(tree).flatMap(([name, beneath]) => {
    const there = Object.hasOwn(other, name) ? other[name] : undefined;
    return there === undefined ? [above + name] : fieldsMissing(beneath, there, `${above}${name}.`);
  });
}

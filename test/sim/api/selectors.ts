import { isJson, type StoredObject } from "./json.ts";

export type Matches = (object: StoredObject) => boolean;

/** What a list or watch asks for. @throws RangeError for what this server does not understand */
export function selection(namespace: string | undefined, query: { readonly [name: string]: string }): Matches {
  const fields = requirements(query["fieldSelector"] ?? "", (object, path) => valueAt(object, path.split(".")));
  const labels = requirements(query["labelSelector"] ?? "", (object, key) => object.metadata.labels?.[key]);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    [...fields, ...labels].every((requirement) => requirement(object));
}

function requirements(selector: string, read: (object: StoredObject, key: string) => string | undefined): Matches[] {
  return selector.split(",").flatMap((term): Matches[] => {
    if (term === "") return [];
    const equality = /^([^=!]+)(==|=|!=)([^=!]*)$/.exec(term);
    if (equality !== null) {
      const [, key = "", operator, value] = equality;
      return [(object) => (read(object, key) === value) === (operator !== "!=")];
    }
    if (/^!?[\w./-]+$/.test(term)) {
      const key = term.replace(/^!/, "");
      return [(object) => (read(object, key) !== undefined) === !term.startsWith("!")];
    }
    throw new RangeError(`selector ${term}`);
  });
}

function valueAt(value: unknown, path: readonly string[]): string | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return typeof value === "string" ? value : undefined;
  return isJson(value) ? valueAt(value[first], rest) : undefined;
}

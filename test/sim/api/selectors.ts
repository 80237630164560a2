import { isJson, type StoredObject } from "./json.ts";

export type Matches = (object: StoredObject) => boolean;

/** What a list or watch asks for. @throws RangeError for what this server does not understand */
export function selection(namespace: string | undefined, query: { readonly [name: string]: string }): Matches {
  const fields = requirements(query["fieldSelector"] ?? "", valueAt);
  const labels = requirements(query["labelSelector"] ?? "", (object, key) => object.metadata.labels?.[key]);
  const all = [...fields, ...labels];
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    all.every((requirement) => requirement(object));
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

function valueAt(object: unknown, path: string): string | undefined {
  let value = object;
  for (const name of path.split(".")) value = isJson(value) ? value[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

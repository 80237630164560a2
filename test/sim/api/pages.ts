import type { StoredObject } from "./json.ts";

/** Where the next page of a list begins: after a key, in the state of a version. */
export interface PageToken {
  readonly version: number;
  readonly after: string;
}

/** One page of a list, in the order of keys as etcd has them. */
export function page(
  objects: ReadonlyMap<string, StoredObject>,
  matches: (object: StoredObject) => boolean,
  after: string,
  limit: number,
): { readonly items: readonly StoredObject[]; readonly more: boolean; readonly last: string } {
  const keys = [...objects.keys()].filter((key) => key > after).sort();
  const matching = keys.flatMap((key) => {
    const object = objects.get(key);
    return object !== undefined && matches(object) ? [{ key, object }] : [];
  });
  const shown = limit > 0 ? matching.slice(0, limit) : matching;
  return {
    items: shown.map(({ object }) => object),
    more: shown.length < matching.length,
    last: shown.at(-1)?.key ?? after,
  };
}

export function encodeToken(token: PageToken): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/** @returns undefined if it is none of ours */
export function decodeToken(text: string): PageToken | undefined {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString()) as PageToken;
  } catch {
    return undefined;
  }
}

/** The target of a request, as far as any rule could allow it. */
export interface Target {
  /** What stands between the slashes, at least one. */
  readonly segments: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

/** Longest that is looked at; the longest selector that the CRDs allow fits. */
const longest = 12 * 1024;
/** No name that a path of ours has needs an escape, so nothing has to be decoded, and nothing can be decoded twice. */
const segment = /^[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?$/;

/**
 * PURE. Reads the target of a request line: origin-form alone, each segment a plain name, each parameter once, and
 * written as URLSearchParams writes it, so that what is read here is what anybody else would read.
 * @returns the problem if it is not so
 */
export function readTarget(text: string): Target | string {
  if (text.length > longest) return `the target is longer than ${longest} characters`;
  if (!text.startsWith("/")) return "the target is not the path of an object";
  const [, path = "", search] = /^\/([^?#]*)(?:\?([^#]*))?$/.exec(text) ?? [];
  const segments = path.split("/");
  if (!segments.every((one) => segment.test(one))) return "the path is not of plain names";
  const query = readQuery(search);
  return typeof query === "string" ? query : { segments, query };
}

function readQuery(search: string | undefined): ReadonlyMap<string, string> | string {
  const query = new Map<string, string>();
  if (search === undefined) return query;
  const parameters = new URLSearchParams(search);
  if (search === "" || parameters.toString() !== search) return "the query is not written as it is read";
  for (const [name, value] of parameters) {
    if (query.has(name)) return `the parameter ${JSON.stringify(name)} is there twice`;
    query.set(name, value);
  }
  return query;
}

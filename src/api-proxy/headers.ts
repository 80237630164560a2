/** The headers of a request, except those of the connection. */
export interface Headers {
  readonly contentType: string | undefined;
  /** Bytes of the body; undefined if there is none. */
  readonly contentLength: number | undefined;
  readonly asUser: string | undefined;
}

/** Each by the only values that it may have. The last three are judged by the rule. */
const known: { readonly [name: string]: RegExp } = {
  host: /^[\w.:[\]-]{0,255}$/,
  connection: /^(?:keep-alive|close)$/,
  accept: /^application\/json$/,
  "user-agent": /^[ -~]{0,256}$/,
  "content-type": /^application\/(?:json|merge-patch\+json)$/,
  "content-length": /^(?:0|[1-9][0-9]{0,8})$/,
  "impersonate-user": /^system:node:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
};

/**
 * PURE. Reads the headers of a request as they came, names and values in turn. The set is closed: credentials, another
 * method, other hosts, other framings of the body, changes of the protocol are not in it. @returns the problem if there
 * is one
 */
export function readHeaders(raw: readonly string[]): Headers | string {
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    const value = raw[i + 1] ?? "";
    if (!Object.hasOwn(known, name)) return `the header ${name.slice(0, 64)} is not for the API server`;
    if (!known[name]?.test(value)) return `the header ${name} has a value that no agent sends`;
    if (found.has(name)) return `the header ${name} is there twice`;
    found.set(name, value);
  }
  const length = found.get("content-length");
  return {
    contentType: found.get("content-type"),
    contentLength: length === undefined ? undefined : Number(length),
    asUser: found.get("impersonate-user"),
  };
}

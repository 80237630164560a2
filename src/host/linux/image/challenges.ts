/** How a server wants to be told who asks, by a scheme of HTTP. */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** By names in lower case; of one that comes twice the first counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const separators = /[\s,]*/y;
const equals = /[ \t]*=[ \t]*/y;
/** One value in place of parameters, to the end of the challenge. */
const token68 = /[ \t]+[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const quoted = /"((?:[^"\\]|\\.)*)(?:"|$)/sy;
/** More than RFC 9110 allows without quotes: there are registries that send addresses so. */
const bare = /[^\s,"]*/y;

/**
 * PURE. The challenges of WWW-Authenticate (RFC 9110, 11.6.1): any number in one header, separated by the same commas
 * as their parameters, in quotes or without. What follows something that is no challenge is left out.
 */
export function readChallenges(header: string): readonly Challenge[] {
  const found: { readonly scheme: string; readonly parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (what: RegExp): RegExpExecArray | undefined => {
    what.lastIndex = at;
    const match = what.exec(header);
    if (match === null) return undefined;
    at = what.lastIndex;
    return match;
  };
  for (;;) {
    take(separators);
    const [name] = take(token) ?? [];
    if (name === undefined) return found;
    const last = found.at(-1);
    if (last !== undefined && take(equals) !== undefined) {
      const value = take(quoted)?.[1]?.replace(/\\(.)/gs, "$1") ?? take(bare)?.[0] ?? "";
      const key = name.toLowerCase();
      if (!last.parameters.has(key)) last.parameters.set(key, value);
    } else {
      found.push({ scheme: name.toLowerCase(), parameters: new Map() });
      take(token68);
    }
  }
}

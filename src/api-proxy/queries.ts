import { fieldManager } from "../api/names.ts";

/** What is asked of a path, as RBAC calls it; `probe` is a create that is only tried, `token` the create of a token. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "probe" | "token";

/** What a parameter may be. */
type Values = string | RegExp;

interface Form {
  readonly needed: { readonly [name: string]: Values };
  readonly allowed?: { readonly [name: string]: Values };
}

const write = { fieldManager: fieldManager.agent, fieldValidation: "Strict" };
const watch = { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: /^[345][0-9]{2}$/ };

/** The parameters of each verb, but for selectors, which each rule has its own of. */
const forms: { readonly [verb in Verb]: readonly Form[] } = {
  get: [{ needed: {} }],
  list: [{ needed: { limit: "500" }, allowed: { continue: /^[A-Za-z0-9_=-]{1,4096}$/ } }],
  watch: [
    { needed: { ...watch, sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" } },
    { needed: { ...watch, resourceVersion: /^[1-9][0-9]{0,19}$/ } },
  ],
  create: [{ needed: write }],
  update: [{ needed: write }],
  patch: [{ needed: write }],
  probe: [{ needed: { ...write, dryRun: "All" } }],
  token: [{ needed: {} }],
};

/** PURE. Whether a query, without its selectors, is one that the agent makes of this verb. */
export function isQueryOf(verb: Verb, query: ReadonlyMap<string, string>): boolean {
  return forms[verb].some(({ needed, allowed = {} }) => {
    const all = { ...needed, ...allowed };
    const complete = Object.keys(needed).every((name) => query.has(name));
    return complete && [...query].every(([name, value]) => Object.hasOwn(all, name) && is(value, all[name]));
  });
}

function is(value: string, of: Values | undefined): boolean {
  return typeof of === "string" ? value === of : of?.test(value) === true;
}

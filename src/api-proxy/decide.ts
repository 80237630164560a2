import { intentRest } from "../api/intent-name.ts";
import { type Headers, readHeaders } from "./headers.ts";
import type { Own } from "./own.ts";
import { isQueryOf, type Verb } from "./queries.ts";
import { longestBody, type Rule, rules } from "./rules.ts";
import { readTarget, type Target } from "./target.ts";

/** A request as it came, before its body. */
export interface RequestHead {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** What is asked of the API server in its place: nothing in it is a copy of what came, all of it is written anew. */
export interface Call {
  readonly rule: Rule;
  readonly verb: Verb;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly asUser: string | undefined;
  readonly contentType: string | undefined;
  /** Bytes of the body that will come. */
  readonly length: number;
}

/** Why the proxy refuses a request. */
export interface Refusal {
  /** For metrics. */
  readonly kind: "form" | "rule" | "body";
  /** For people. */
  readonly message: string;
}

const methods: { readonly [verb in Verb]: string } = {
  ...{ get: "GET", list: "GET", watch: "GET", update: "PUT", patch: "PATCH" },
  ...{ create: "POST", probe: "POST", token: "POST" },
};

/** PURE. What a request is by the closed set of rules, or why it is none of them. */
export function decide(head: RequestHead, own: Own): Call | Refusal {
  const target = readTarget(head.target);
  if (typeof target === "string") return { kind: "form", message: target };
  const headers = readHeaders(head.headers);
  if (typeof headers === "string") return { kind: "form", message: headers };
  let nearest = "no rule is for this path";
  for (const rule of rules) {
    if (!isPathOf(rule, target, own)) continue;
    const selectors = selectorsOf(rule, target, own);
    const verb = selectors && rule.verbs.find((one) => methods[one] === head.method && isQueryOf(one, selectors.rest));
    if (selectors === undefined || verb === undefined) {
      nearest = "no rule for this path is for this method and query";
      continue;
    }
    const problem = headersProblem(rule, verb, headers, own);
    if (problem !== undefined) return { kind: "rule", message: problem };
    return callOf(rule, verb, target, headers);
  }
  return { kind: "rule", message: nearest };
}

/** PURE. The body that goes on, written anew from what was understood; or why it does not. */
export function decideBody({ rule }: Call, text: string, own: Own): { readonly body: string } | Refusal {
  let value: unknown;
  let body: string;
  try {
    value = JSON.parse(text);
    body = JSON.stringify(value); // throws if it is very deep
  } catch {
    return { kind: "body", message: "the body is no JSON, or too deep" };
  }
  const problem = rule.body === undefined ? "no body is for this rule" : rule.body(value, own);
  return problem === undefined ? { body } : { kind: "body", message: problem };
}

function callOf(rule: Rule, verb: Verb, { segments, query }: Target, headers: Headers): Call {
  const search = new URLSearchParams([...query]).toString();
  return {
    rule,
    verb,
    method: methods[verb],
    path: `/${segments.join("/")}${search === "" ? "" : `?${search}`}`,
    asUser: headers.asUser,
    contentType: headers.contentType,
    length: headers.contentLength ?? 0,
  };
}

function headersProblem(rule: Rule, verb: Verb, headers: Headers, { nodeName }: Own): string | undefined {
  const { contentType, contentLength, asUser } = headers;
  if (asUser !== undefined && (rule.asNode !== true || asUser !== `system:node:${nodeName}`))
    return "the request may not impersonate that user";
  if (rule.body === undefined) {
    return contentType === undefined && contentLength === undefined ? undefined : "this request has no body";
  }
  const wanted = verb === "patch" ? "application/merge-patch+json" : "application/json";
  if (contentType !== wanted) return `the body is not ${wanted}`;
  const { longest = longestBody } = rule;
  return contentLength !== undefined && contentLength <= longest
    ? undefined
    : `the body is not of 0 to ${longest} bytes`;
}

function isPathOf({ path }: Rule, { segments }: Target, own: Own): boolean {
  const template = path.slice(1).split("/");
  return template.length === segments.length && template.every((part, i) => isPart(part, segments[i] ?? "", own));
}

/** The parameters that are no selectors; undefined if the selectors are not the rule's. */
function selectorsOf(rule: Rule, { query }: Target, own: Own): { rest: ReadonlyMap<string, string> } | undefined {
  const { fieldSelector: field, labelSelector: label, ...rest } = Object.fromEntries(query);
  if (label !== undefined && (rule.labelSelector !== true || !labels.test(label))) return undefined;
  const [key = "", part = ""] = rule.fieldSelector?.split("=") ?? [];
  const isIts = rule.fieldSelector === undefined ? field === undefined : field?.startsWith(`${key}=`) === true;
  if (!isIts || (field !== undefined && !isPart(part, field.slice(key.length + 1), own))) return undefined;
  return { rest: new Map(Object.entries(rest)) };
}

/** What stands in a selector of labels that the CRDs allow. */
const labels = /^[-A-Za-z0-9_./,=!() ]{1,8192}$/;

const names: { readonly [part: string]: { readonly pattern: RegExp; readonly longest: number } } = {
  "{namespace}": { pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, longest: 63 },
  "{name}": { pattern: /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/, longest: 253 },
  "{bundle}": { pattern: /^[a-z0-9](?:[-a-z0-9.:]*[a-z0-9])?$/, longest: 253 },
  "{policy}": { pattern: /^nodevolume-(?:agents|intents)$/, longest: 63 },
  "{signer}": { pattern: /^[a-z0-9][-A-Za-z0-9._]*\/[-A-Za-z0-9._/]+$/, longest: 571 },
};

/** Whether `text` is what stands in a rule as `part`. */
function isPart(part: string, text: string, { nodeName, intentPrefix }: Own): boolean {
  if (part === "{own}") return text === nodeName;
  if (part === "{intent}") return text.startsWith(intentPrefix) && intentRest.test(text.slice(intentPrefix.length));
  const any = names[part];
  if (any === undefined) return text === part;
  return text.length <= any.longest && any.pattern.test(text) && !text.includes("..");
}

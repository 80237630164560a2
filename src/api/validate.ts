import type { ErrorObject } from "ajv";
import { copyJson } from "./copy-json.ts";
import { apiVersion } from "./names.ts";
import { type Definitions, type FieldError, type RuleChecker, ruleChecker } from "./rules/check-rules.ts";
import { schema } from "./schema.gen.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "./types.gen.ts";
import { intent as intentStatus, set as setStatus } from "./validators/status.gen.ts";
import { intent as intentStructure, set as setStructure } from "./validators/structure.gen.ts";

export type { FieldError } from "./rules/check-rules.ts";

/** What an object says, or the fields that keep it from being understood. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/**
 * An intent as the API gave it, with its defaults; the input is left as it is. Everything that the API server checks at
 * creation is checked again, so that the agent's safety does not rest on the CRD that happens to be installed. Unknown
 * fields of the spec are errors: what is not understood is not carried out (law L7).
 *
 * The status is output only and never a reason to refuse: unknown fields of it are dropped, and one that still cannot
 * be read becomes the status at birth, which says nothing, so that the volume counts as in use.
 */
export function parseIntent(input: unknown): Parsed<NodeVolumeIntent> {
  return parse<NodeVolumeIntent>(intents, input);
}

/** A set as the API gave it, with its defaults, as parseIntent does it. */
export function parseSet(input: unknown): Parsed<NodeVolumeSet> {
  return parse<NodeVolumeSet>(sets, input);
}

type Kind = "NodeVolumeIntent" | "NodeVolumeSet";
type Fields = { [name: string]: unknown };

/** The code that ajv has made of a schema: whether a value has its structure, and what is wrong if not. */
type Check = ((value: unknown) => boolean) & { readonly errors?: readonly ErrorObject[] | null };

interface Validator {
  readonly kind: Kind;
  /** Fills in defaults. Leaves the status alone. */
  readonly structure: Check;
  /** For what has that structure. Leaves the status alone. */
  readonly brokenRules: () => RuleChecker;
  /** Fills in defaults and removes unknown fields. */
  readonly status: Check;
  readonly statusAtBirth: unknown;
}

const definitions = schema.definitions as unknown as Definitions;

/** What is wrong with a value that has its form: the rules are checked all the same, as by the API server. */
const ofValue: ReadonlySet<string> = new Set(["pattern", "minLength", "minimum", "maximum"]);

const intents: Validator = {
  kind: "NodeVolumeIntent",
  structure: intentStructure,
  status: intentStatus,
  brokenRules: /* @__PURE__ */ once(() => rulesOf("NodeVolumeIntent")),
  statusAtBirth: schema.definitions.NodeVolumeIntent.properties.status.default,
};

const sets: Validator = {
  kind: "NodeVolumeSet",
  structure: setStructure,
  status: setStatus,
  brokenRules: /* @__PURE__ */ once(() => rulesOf("NodeVolumeSet")),
  statusAtBirth: schema.definitions.NodeVolumeSet.properties.status.default,
};

function parse<T>({ kind, structure, brokenRules, status, statusAtBirth }: Validator, input: unknown): Parsed<T> {
  if (typeof input !== "object" || input === null) return refused([{ path: "", message: "must be an object" }]);
  const value = copyJson(input) as Fields;
  const ofStructure = structure(value) ? [] : (structure.errors ?? []);
  const errors = ofStructure.map(structureError);
  if (ofStructure.some(({ keyword }) => !ofValue.has(keyword))) return refused(errors);
  errors.push(...identityErrors(kind, value));
  // Rules count on a name.
  if (typeof (value["metadata"] as Fields)["name"] === "string") errors.push(...brokenRules()(value));
  if (errors.length > 0) return refused(errors);
  if (!status(value["status"])) value["status"] = copyJson(statusAtBirth);
  return { ok: true, value: value as T };
}

/** The status of an intent as parseIntent reads it, of an object whose spec is known to be understood. */
export function parseIntentStatus(input: unknown): NodeVolumeIntent["status"] {
  const value = copyJson(input ?? intents.statusAtBirth);
  return (intents.status(value) ? value : copyJson(intents.statusAtBirth)) as NodeVolumeIntent["status"];
}

function refused(errors: readonly FieldError[]): { readonly ok: false; readonly errors: readonly FieldError[] } {
  const distinct = new Map(errors.map((error) => [`${error.path} ${error.message}`, error]));
  return { ok: false, errors: [...distinct.values()] };
}

/** What ajv found, as a path and a sentence with the remedy. */
function structureError(error: ErrorObject): FieldError {
  const at = fieldPath(error.instancePath);
  switch (error.keyword) {
    case "required":
      return { path: `${at}.${error.params["missingProperty"]}`, message: "is needed: add it" };
    case "additionalProperties":
      return {
        path: `${at}.${error.params["additionalProperty"]}`,
        message: "is not understood: correct its name, or upgrade what reads it here",
      };
    case "enum": {
      const values = (error.params["allowedValues"] as unknown[]).map((value) => JSON.stringify(value));
      return { path: at, message: `must be one of ${values.join(", ")}` };
    }
    case "type":
      return { path: at, message: `must be of type ${[error.params["type"]].flat().join(" or ")}` };
    case "minLength":
      return { path: at, message: "must not be empty" };
    default:
      return { path: at, message: error.message ?? `breaks the schema's ${error.keyword}` };
  }
}

/** A JSON pointer as people write paths: `/spec/mounts/0/path` is `.spec.mounts[0].path`. */
function fieldPath(pointer: string): string {
  const segments = pointer.split("/").slice(1);
  const named = segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  return named.map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`)).join("");
}

/** An entry of a list may come without apiVersion and kind. */
function identityErrors(kind: Kind, value: Fields): FieldError[] {
  const errors: FieldError[] = [];
  if (value["apiVersion"] !== undefined && value["apiVersion"] !== apiVersion) {
    errors.push({ path: ".apiVersion", message: `must be ${apiVersion}` });
  }
  if (value["kind"] !== undefined && value["kind"] !== kind) {
    errors.push({ path: ".kind", message: `must be ${kind}` });
  }
  const { name } = value["metadata"] as Fields;
  if (typeof name !== "string" || name === "") errors.push({ path: ".metadata.name", message: "must be a name" });
  return errors;
}

/** The rules of a kind, but for those of its status. */
function rulesOf(kind: Kind): RuleChecker {
  const { properties } = definitions[kind] ?? {};
  return ruleChecker(definitions, { ...definitions[kind], properties: { ...properties, status: {} } });
}

/** `make` on the first call, what it returned on the others: an agent reads no sets, and what reads sets no intents. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

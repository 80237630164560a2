import { Ajv, type ValidateFunction } from "ajv";
import { type Definitions, type FieldError, type RuleChecker, ruleChecker } from "./check-rules.ts";
import { copyJson } from "./copy-json.ts";
import { apiVersion } from "./names.ts";
import { schema } from "./schema.gen.ts";
import { structureError } from "./structure-error.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "./types.gen.ts";

export type { FieldError } from "./check-rules.ts";

/** What an object says, or the fields that keep it from being understood. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/**
 * An intent as the API gave it, with its defaults; the input is left as it is. Everything that the API server checks at
 * creation is checked again, so that the agent's safety does not rest on the CRD that happens to be installed. Unknown
 * fields of the spec are errors: what is not understood is not carried out (law L7).
 *
 * The status is output only and never a reason to refuse: unknown fields of it are dropped, and one that still cannot be
 * read becomes the status at birth, which says nothing, so that the volume counts as in use.
 */
export function parseIntent(input: unknown): Parsed<NodeVolumeIntent> {
  return parse<NodeVolumeIntent>("NodeVolumeIntent", input);
}

/** A set as the API gave it, with its defaults, as parseIntent does it. */
export function parseSet(input: unknown): Parsed<NodeVolumeSet> {
  return parse<NodeVolumeSet>("NodeVolumeSet", input);
}

type Kind = "NodeVolumeIntent" | "NodeVolumeSet";
type Fields = { [name: string]: unknown };

interface Validator {
  /** Fills in defaults. Leaves the status alone. */
  readonly structure: ValidateFunction;
  /** For what has that structure. Leaves the status alone. */
  readonly brokenRules: RuleChecker;
  /** Fills in defaults and removes unknown fields. */
  readonly status: ValidateFunction;
  readonly statusAtBirth: unknown;
}

const definitions = schema.definitions as unknown as Definitions;
const validators: { readonly [kind in Kind]: () => Validator } = {
  NodeVolumeIntent: once(() => compile("NodeVolumeIntent")),
  NodeVolumeSet: once(() => compile("NodeVolumeSet")),
};

function parse<T>(kind: Kind, input: unknown): Parsed<T> {
  if (typeof input !== "object" || input === null) return refused([{ path: "", message: "must be an object" }]);
  const { structure, brokenRules, status, statusAtBirth } = validators[kind]();
  const value = copyJson(input) as Fields;
  if (!structure(value)) return refused((structure.errors ?? []).map((error) => structureError(error)));
  const errors = [...identityErrors(kind, value), ...brokenRules(value)];
  if (errors.length > 0) return refused(errors);
  if (!status(value["status"])) value["status"] = copyJson(statusAtBirth);
  return { ok: true, value: value as T };
}

/** The status of an intent as parseIntent reads it, of an object whose spec is known to be understood. */
export function parseIntentStatus(input: unknown): NodeVolumeIntent["status"] {
  const { status, statusAtBirth } = validators.NodeVolumeIntent();
  const value = copyJson(input ?? statusAtBirth);
  return (status(value) ? value : copyJson(statusAtBirth)) as NodeVolumeIntent["status"];
}

function refused(errors: readonly FieldError[]): { readonly ok: false; readonly errors: readonly FieldError[] } {
  const distinct = new Map(errors.map((error) => [`${error.path} ${error.message}`, error]));
  return { ok: false, errors: [...distinct.values()] };
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

function compile(kind: Kind): Validator {
  const { status } = schema.definitions[kind].properties;
  const node = { ...definitions[kind], properties: { ...definitions[kind]?.properties, status: {} } };
  const options = { useDefaults: true, allErrors: true, allowUnionTypes: true } as const;
  const ajv = new Ajv(options).addVocabulary(["rules", "mapKeys"]);
  const lenient = new Ajv({ ...options, removeAdditional: true }).addVocabulary(["rules", "mapKeys"]);
  return {
    structure: ajv.compile({
      ...node,
      properties: { ...node.properties, status: { default: status.default } },
      definitions,
    }),
    brokenRules: ruleChecker(definitions, node),
    status: lenient.compile({ $ref: status.$ref, definitions }),
    statusAtBirth: status.default,
  };
}

/** `make` on the first call, what it returned on the others. Compiling takes longer than the rest of a start. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

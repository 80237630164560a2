import { Ajv, type ValidateFunction } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { Schema } from "./crds.ts";

/** What is checked of a kind, each by code of its own. */
export interface ValidatorTexts {
  /** All but the status, of which any form will do; fills in defaults. */
  readonly structure: string;
  /** The status alone; fills in defaults and removes unknown fields. */
  readonly status: string;
}

type Definition = { readonly properties: { readonly [field: string]: Schema } } & Schema;

/**
 * The code that ajv makes of a kind's schema. Made at build time, because it takes ajv longer than all else that an
 * agent does until it is ready, and memory that it keeps.
 */
export function validatorsOf(kind: string, definitions: { readonly [name: string]: Schema }): ValidatorTexts {
  const node = definitions[kind] as Definition;
  const status = node.properties["status"];
  if (status === undefined) throw new Error(`${kind} has no status`);
  const options = {
    useDefaults: true,
    allErrors: true,
    allowUnionTypes: true,
    code: { source: true, esm: true },
  } as const;
  const strict = new Ajv(options).addVocabulary(["rules", "mapKeys"]);
  const lenient = new Ajv({ ...options, removeAdditional: true }).addVocabulary(["rules", "mapKeys"]);
  const properties = { ...node.properties, status: { default: status["default"] } };
  return {
    structure: textOf(strict, strict.compile({ ...node, properties, definitions })),
    status: textOf(lenient, lenient.compile({ $ref: status["$ref"], definitions })),
  };
}

/** As a module of ours: what it needs of ajv is how long a string is. */
function textOf(ajv: Ajv, validate: ValidateFunction): string {
  const code = standalone.default(ajv, validate);
  const own = code.replaceAll(/require\("ajv\/dist\/runtime\/ucs2length"\)\.default/g, "codePoints");
  const module = own.replace('"use strict";', "").replace(/export default \w+;/, "");
  if (own.includes("require(")) throw new Error("the code of a validator needs more of ajv than is known here");
  return `// @ts-nocheck: it is JavaScript\nimport { codePoints } from "../code-points.ts";\n${used(lines(module))}\n`;
}

/** Without the copies of the schema that nothing refers to. */
function used(code: string): string {
  const occurs = (name: string) => code.split(new RegExp(`\\b${name}\\b`)).length - 1;
  return code.replaceAll(/^const (schema\d+) = .*;\n/gm, (line, name: string) => (occurs(name) > 1 ? line : ""));
}

/** One statement or so a line, so that a change of the schema is a change of some lines. */
function lines(code: string): string {
  return code.replaceAll(
    /([;{}])(?=(?:const|let|if|else|for|function|return|export|var|validate\d+\.errors)\b)/g,
    "$1\n",
  );
}

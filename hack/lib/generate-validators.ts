import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { Schema } from "./crds.ts";

type Definition = { readonly properties: { readonly [field: string]: Schema } } & Schema;

const options = {
  useDefaults: true,
  allErrors: true,
  allowUnionTypes: true,
  code: { source: true, esm: true },
} as const;

/**
 * The code that ajv makes of kinds, one function each by its name: what the kinds share is compiled once. Made at build
 * time, because it takes ajv longer than all else that an agent does until it is ready, and memory that it keeps.
 * @param what "structure": all but the status, of which any form will do; fills in defaults. "status": the status
 *   alone; fills in defaults and removes unknown fields.
 */
export function validatorsOf(
  what: "structure" | "status",
  kinds: readonly { readonly kind: string; readonly name: string }[],
  definitions: { readonly [name: string]: Schema },
): string {
  const ajv = new Ajv({ ...options, removeAdditional: what === "status" }).addVocabulary(["rules", "mapKeys"]);
  const checked = kinds.map(({ kind, name }): [name: string, Schema] => {
    const node = definitions[kind] as Definition;
    const status = node.properties["status"];
    if (status === undefined) throw new Error(`${kind} has no status`);
    const properties = { ...node.properties, status: { default: status["default"] } };
    return [name, what === "status" ? { $ref: status["$ref"] } : { ...node, properties }];
  });
  ajv.addSchema({ $id: "crds", definitions: { ...definitions, ...Object.fromEntries(checked) } });
  return textOf(ajv, Object.fromEntries(checked.map(([name]) => [name, `crds#/definitions/${name}`])));
}

/** As a module of ours: what it needs of ajv is how long a string is. */
function textOf(ajv: Ajv, validators: { readonly [name: string]: string }): string {
  const code = standalone.default(ajv, validators);
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

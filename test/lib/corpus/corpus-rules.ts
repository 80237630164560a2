// Which words of the corpus are the API server's, and which are said of an object that it has let in.
import { checkedSchemas } from "../../../hack/lib/checked-schemas.ts";
import { fieldsOf, readCRDs, type Schema, schemaOf } from "../../../hack/lib/crds.ts";
import type { FieldError } from "../../../src/api/rules/check-rules.ts";

/** A rule where it stands. */
export interface PlacedRule {
  /** The field that it names, without indices: `spec.mounts[].path`. */
  readonly path: string;
  readonly message: string;
  /**
   * It stands with a string, number or boolean: the API server shows that before the message, as it does with nothing
   * else.
   */
  readonly ofOneValue: boolean;
}

const byServer = placed(new Map([...readCRDs()].map(([kind, crd]) => [kind, schemaOf(crd)])));
const byCode = placed(checkedSchemas());

/** Every rule of every kind, by the API server or by code alone. */
export const allRules: readonly PlacedRule[] = [...byServer.values(), ...byCode.values()].flat();

/** Whether the API server does not check what a line speaks of: a rule that controller and agents check alone. */
export function isOfCode(kind: string, line: string): boolean {
  const { path, message } = partsOf(line);
  const has = (rules: ReadonlyMap<string, readonly PlacedRule[]>) =>
    (rules.get(kind) ?? []).some((rule) => rule.path === path && rule.message.startsWith(message));
  return message !== "" && has(byCode) && !has(byServer);
}

/** Whether one of the errors is what a line says. */
export function isSaid(line: string, errors: readonly FieldError[]): boolean {
  const { path, message } = partsOf(line);
  return errors.some((error) => withoutIndices(error.path.slice(1)) === path && error.message.startsWith(message));
}

/** An error of the code as a line of the corpus. */
export function lineOf({ path, message }: FieldError): string {
  return `${path.slice(1)}: Invalid value: ${message}`;
}

/** The field that a line names, and what a rule says of it. */
export function partsOf(line: string): { path: string; value: string | undefined; message: string } {
  const [, path = "", value, message = ""] = /^(.*?): Invalid value: (?:(".*"|-?\d+): )?(.*)$/s.exec(line) ?? [];
  return { path: withoutIndices(path), value, message };
}

function withoutIndices(path: string): string {
  return path.replaceAll(/\[\d+\]/g, "[]");
}

function placed(schemas: ReadonlyMap<string, Schema>): ReadonlyMap<string, readonly PlacedRule[]> {
  return new Map([...schemas].map(([kind, schema]) => [kind, rulesIn(schema, "")]));
}

function rulesIn(node: Schema, path: string): PlacedRule[] {
  const ofOneValue = ["string", "integer", "number", "boolean"].includes(`${node["type"]}`);
  const own = [...listOf(node, "x-kubernetes-validations"), ...listOf(node, "rulesInCode")].map((rule) => ({
    path: `${path}${rule["fieldPath"] ?? rule["field"] ?? ""}`.replace(/^\./, ""),
    message: String(rule["message"]),
    ofOneValue,
  }));
  const others = node["additionalProperties"];
  return [
    ...own,
    ...Object.entries(fieldsOf(node)).flatMap(([name, field]) => rulesIn(field, `${path}.${name}`)),
    ...(node["items"] === undefined ? [] : rulesIn(node["items"] as Schema, `${path}[]`)),
    ...(typeof others === "object" ? rulesIn(others as Schema, `${path}{}`) : []),
  ];
}

function listOf(node: Schema, key: string): readonly Schema[] {
  return (node[key] as Schema[] | undefined) ?? [];
}

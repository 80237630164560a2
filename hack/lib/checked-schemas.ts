// The schemas that controller and agents check objects by: those of the CRDs, with what the CRDs leave out to be small.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { crdFolder, fieldsOf, readCRDs, type Schema, schemaOf } from "./crds.ts";
import { rulesOf } from "./generate-rules.ts";

/** Rules as in src/api/rules/rule.ts, by the title of an object, or by title and field. */
type RulesInCode = { readonly [place: string]: readonly Schema[] };

/**
 * The schemas of all kinds as controller and agents check them. An intent has its source, and the rules between fields
 * that both kinds have, by the schema of a set. What crds/rules-in-code.yaml says is added as `rulesInCode`.
 */
export function checkedSchemas(): Map<string, Schema> {
  const rules = load(readFileSync(join(crdFolder, "rules-in-code.yaml"), "utf8")) as RulesInCode;
  const schemas = new Map([...readCRDs()].map(([kind, crd]) => [kind, copyOf(schemaOf(crd))]));
  const whole = new Map<string, Schema>();
  for (const schema of schemas.values()) eachNode(schema, (node) => isOpen(node) || whole.set(titleOf(node), node));
  for (const schema of schemas.values()) eachNode(schema, (node) => isOpen(node) && fill(node, whole));
  const unused = new Set(Object.keys(rules));
  for (const schema of schemas.values()) eachNode(schema, (node) => addRules(node, rules, unused));
  if (unused.size > 0) throw new Error(`rules-in-code.yaml speaks of what no CRD has: ${[...unused].join(", ")}`);
  const [intent, set] = ["NodeVolumeIntent", "NodeVolumeSet"].map((kind) => fieldsOf(schemas.get(kind))["spec"]);
  if (intent === undefined || set === undefined) throw new Error("there is no spec of a set and of an intent");
  intent["rulesInCode"] = [...((intent["rulesInCode"] as Schema[] | undefined) ?? []), ...rulesOfBoth(set, intent)];
  return schemas;
}

/** Without the aliases of YAML: each node is one of its own. */
function copyOf(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

function eachNode(node: Schema, visit: (node: Schema) => void): void {
  visit(node);
  const inner = [node["items"], node["additionalProperties"]].filter((one) => typeof one === "object");
  for (const one of [...Object.values(fieldsOf(node)), ...(inner as Schema[])]) eachNode(one, visit);
}

function titleOf(node: Schema): string {
  return typeof node["title"] === "string" ? node["title"] : "";
}

/** An object whose fields the API server takes as they are: another CRD says under the same title what they hold. */
function isOpen(node: Schema): boolean {
  return Object.values(fieldsOf(node)).some((field) => field["x-kubernetes-preserve-unknown-fields"] === true);
}

function fill(node: Schema, whole: ReadonlyMap<string, Schema>): void {
  const title = titleOf(node);
  const same = whole.get(title);
  const [members, open] = [fieldsOf(same), fieldsOf(node)].map((fields) => Object.keys(fields).join(" "));
  if (same === undefined || members !== open) throw new Error(`no CRD has all of ${title}, with the same fields`);
  for (const key of Object.keys(node)) delete node[key];
  Object.assign(node, copyOf(same));
}

function addRules(node: Schema, rules: RulesInCode, unused: Set<string>): void {
  const title = titleOf(node);
  if (title === "") return;
  const add = (of: Schema, place: string) => {
    if (rules[place] === undefined) return;
    of["rulesInCode"] = rules[place];
    unused.delete(place);
  };
  add(node, title);
  for (const [name, field] of Object.entries(fieldsOf(node))) add(field, `${title}.${name}`);
}

/** The rules of a set and its volume about fields that an intent has, too, but for those that it has itself. */
function rulesOfBoth(set: Schema, intent: Schema): Schema[] {
  const ofSet = [...rulesOf(set), ...rulesOf(fieldsOf(set)["volume"] ?? {})].map((rule) => ({
    ...rule,
    field: String(rule["field"] ?? "").replace(/^\.volume(?=\.)/, ""),
  }));
  const idOf = (rule: Schema) => `${rule["field"]} ${rule["message"]}`;
  const own = new Set(rulesOf(intent).map(idOf));
  const shared = ofSet.filter((rule) => (rule.field.split(".")[1] ?? "") in fieldsOf(intent) && !own.has(idOf(rule)));
  return [...new Map(shared.map((rule) => [idOf(rule), rule])).values()];
}

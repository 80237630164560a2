import { hash } from "node:crypto";
import { arrayIn, isRecord, recordIn, stringIn } from "../json.ts";

/**
 * Digest of what the spec of a ValidatingAdmissionPolicy or of its binding decides, and for what, the same of a
 * manifest and of what the API server shows of it: with the server's defaults, without words for people, and without
 * the order where it says nothing. Fields that are not known here are left out: a later server fills in more of them.
 */
export function policyDigest(spec: unknown): string {
  const decisive = {
    paramKind: recordIn(spec, "paramKind"),
    matchConstraints: matchOf(recordIn(spec, "matchConstraints")),
    matchConditions: byName(arrayIn(spec, "matchConditions")),
    variables: byName(arrayIn(spec, "variables")),
    validations: arrayIn(spec, "validations").map(expressionOf),
    paramRef: recordIn(spec, "paramRef"),
    matchResources: matchOf(recordIn(spec, "matchResources")),
  };
  return hash("sha256", JSON.stringify(canonical(decisive)), "hex");
}

/** MatchResources of admissionregistration.k8s.io/v1. */
function matchOf(match: unknown) {
  return {
    matchPolicy: stringIn(match, "matchPolicy") ?? "Equivalent",
    namespaceSelector: recordIn(match, "namespaceSelector"),
    objectSelector: recordIn(match, "objectSelector"),
    resourceRules: arrayIn(match, "resourceRules").map(ruleOf),
    excludeResourceRules: arrayIn(match, "excludeResourceRules").map(ruleOf),
  };
}

function ruleOf(rule: unknown) {
  const lists = ["apiGroups", "apiVersions", "operations", "resources", "resourceNames"];
  const known = lists.map((list): [string, unknown] => [list, [...arrayIn(rule, list)].sort()]);
  return { ...Object.fromEntries(known), scope: stringIn(rule, "scope") ?? "*" };
}

/** What has names is a map to the server, which may show it in another order. */
function byName(named: readonly unknown[]) {
  return Object.fromEntries(named.map((each) => [stringIn(each, "name") ?? "", expressionOf(each)]));
}

/** Without how it was folded. */
function expressionOf(each: unknown): string {
  return (stringIn(each, "expression") ?? "").replace(/\s+/g, " ").trim();
}

/** With sorted keys, and without what is empty: an empty selector or list says as much as none. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isRecord(value)) return value;
  const members = Object.keys(value)
    .sort()
    .map((key): [string, unknown] => [key, canonical(value[key])]);
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

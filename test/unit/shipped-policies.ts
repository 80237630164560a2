import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";

/** A ValidatingAdmissionPolicy or its binding. */
export interface Rules {
  kind: string;
  metadata: { name: string };
  spec: {
    policyName?: string;
    validationActions?: string[];
    failurePolicy?: string;
    matchConstraints?: Match;
    matchResources?: Match;
    matchConditions?: { name: string; expression: string }[];
    variables?: { name: string; expression: string }[];
    validations?: { expression: string; message?: string }[];
    paramRef?: object;
  };
}

export interface Match {
  resourceRules?: object[];
  excludeResourceRules?: object[];
  namespaceSelector?: object;
  objectSelector?: object;
  matchPolicy?: string;
}

const plurals = {
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
} as const;

/** Those of config/policy. */
export const shippedPolicies: readonly Rules[] = globSync("config/policy/*.yaml", { cwd: root })
  .flatMap((file) => loadAll(readFileSync(join(root, file), "utf8")) as Rules[])
  .filter(({ kind }) => Object.hasOwn(plurals, kind));

export const ofKind = (kind: keyof typeof plurals) => shippedPolicies.filter((one) => one.kind === kind);

/** A copy of one of them, to be changed. */
export function shipped(kind: keyof typeof plurals, name: string): Rules {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`config/policy has no ${kind} ${name}`);
  return structuredClone(found);
}

/** Where an API server in memory has them. It keeps to none of them. */
export function applyPolicies(
  api: { apply(plural: string, object: never): unknown },
  change: (rules: Rules) => Rules | undefined = (rules) => rules,
): void {
  for (const rules of shippedPolicies) {
    const changed = change(structuredClone(rules));
    if (changed !== undefined) api.apply(plurals[rules.kind as keyof typeof plurals], changed as never);
  }
}

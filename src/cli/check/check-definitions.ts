import { version as apiVersion, group, resource } from "../../api/names.ts";
import { listed } from "../../api/values/listed.ts";
import type { DefinitionFacts } from "./facts.ts";
import { fieldsMissing } from "./fields.ts";
import { definedFields } from "./installation.gen.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

const plurals = [resource.sets, resource.intents, resource.states].map(({ plural }) => plural);
const apply = "kubectl apply --server-side -k config/crd";

/** Inputs of the check of the CRDs. */
export interface DefinitionInput {
  readonly definitions: DefinitionFacts;
  /** Of this program. */
  readonly version: string;
  /** Whether all of them must be there. */
  readonly isInstalled: boolean;
}

/** PURE. Whether the CRDs are there, and those of this version: by the fields that the API server serves. */
export function checkDefinitions({ definitions, version, isInstalled }: DefinitionInput): Found {
  const { served, others, deleting, fields } = definitions;
  const [leaving] = deleting;
  if (leaving !== undefined)
    return failed(
      `${deleting.join(", ")} is being deleted, and every volume with it`,
      `See what holds it: kubectl get crd ${leaving} -o jsonpath='{.status.conditions}'`,
    );
  if (served.length + others.length === 0 && !isInstalled) return ok(`there are none of ${group}`);
  const missing = plurals.filter((plural) => !served.includes(plural));
  if (isInstalled && missing.length > 0) return failed(`${missing.join(", ")} (${apiVersion}) is not served`, apply);
  if (others.length > 0)
    return limited(
      `${group} also has ${listed(others, 3)}, which version ${version} does not know`,
      "Use kubectl nvi of the version that is installed",
    );
  if (fields === undefined) return unknown("the API server does not show their fields (/openapi/v3)", apply);
  return checkFields(fields, version, missing);
}

function checkFields(
  fields: NonNullable<DefinitionFacts["fields"]>,
  version: string,
  missing: readonly string[],
): Found {
  const compared = Object.entries(definedFields).flatMap(([kind, own]) => {
    const there = fields[kind];
    if (there === undefined) return [];
    const named = (paths: readonly string[]) => paths.map((path) => `${kind}.${path}`);
    return [{ lacking: named(fieldsMissing(own, there)), further: named(fieldsMissing(there, own)) }];
  });
  const lacking = compared.flatMap((one) => one.lacking);
  const further = compared.flatMap((one) => one.further);
  if (lacking.length > 0)
    return limited(
      `they are not those of ${version}: without ${listed(lacking, 2)}`,
      `To bring them to ${version}: ${apply}`,
    );
  if (further.length > 0)
    return limited(
      `they are newer than ${version}: with ${listed(further, 2)}`,
      "Use kubectl nvi of the version that is installed",
    );
  if (missing.length > 0) return limited(`only a part is there, without ${missing.join(", ")}`, apply);
  return ok(`their fields are those of ${version}`);
}

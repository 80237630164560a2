import type { KubeObject } from "../api/meta.ts";
import { resource } from "../api/names.ts";
import { ApiError, isUnavailable } from "../kube/api-error.ts";
import type { KubeClient } from "../kube/client.ts";
import { arrayIn, recordIn, stringIn } from "../kube/json.ts";
import { createPolicyWatch, type PolicyWatch } from "../kube/policy-watch.ts";
import type { System } from "../ports.ts";
import { policyDigest } from "./policy-digest.ts";
import { shippedDigests } from "./policy-digests.gen.ts";

/** Every binding of config/policy, with its policy. */
export const policyBindings: readonly (readonly [binding: string, policy: string])[] = [
  ["nodevolume-acknowledgements", "nodevolume-acknowledgements"],
  ["nodevolume-agents", "nodevolume-agents"],
  ["nodevolume-claim-marks", "nodevolume-claim-marks"],
  ["nodevolume-claims", "nodevolume-claims"],
  ["nodevolume-claims-reserved", "nodevolume-claims"],
  ["nodevolume-definitions", "nodevolume-definitions"],
  ["nodevolume-intents", "nodevolume-intents"],
  ["nodevolume-pods", "nodevolume-pods"],
  ["nodevolume-probes", "nodevolume-probes"],
  ["nodevolume-readiness", "nodevolume-readiness"],
];

/** Looks from time to time; `onChange` is told when another answer is known. */
export function watchPolicies(
  { system, client }: { readonly system: System; readonly client: KubeClient },
  onChange: () => void,
): PolicyWatch {
  return createPolicyWatch({ system, look: () => policiesMissing(client), onChange });
}

/**
 * Whether every admission policy of config/policy is there and decides what it did when this version was made, and its binding denies.
 * @returns the sentence that names those which are not; undefined if all are
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function policiesMissing(client: KubeClient): Promise<string | undefined> {
  const wrong = await Promise.all(policyBindings.map((names) => whyNot(client, names)));
  const missing = [...new Set(wrong.flatMap((why) => why ?? []))];
  return missing.length === 0 ? undefined : `${missing.join("; ")}: apply config/policy`;
}

async function whyNot(client: KubeClient, [binding, policy]: (typeof policyBindings)[number]) {
  const [bound, rules] = await Promise.all([
    read(client, resource.policyBindings, binding),
    read(client, resource.policies, policy),
  ]);
  for (const found of [bound, rules]) if (typeof found === "string") return found;
  if (bound === undefined) return `there is no ValidatingAdmissionPolicyBinding ${binding}`;
  if (rules === undefined) return `there is no ValidatingAdmissionPolicy ${policy}`;
  const spec = recordIn(bound, "spec");
  if (stringIn(spec, "policyName") !== policy) return `the binding ${binding} names another policy than ${policy}`;
  if (!arrayIn(spec, "validationActions").includes("Deny")) return `the binding ${binding} does not deny`;
  if (stringIn(recordIn(rules, "spec"), "failurePolicy") === "Ignore")
    return `the policy ${policy} ignores its failures`;
  return (
    notAsShipped("ValidatingAdmissionPolicyBinding", binding, bound) ??
    notAsShipped("ValidatingAdmissionPolicy", policy, rules)
  );
}

function notAsShipped(kind: string, name: string, found: unknown): string | undefined {
  if (policyDigest(recordIn(found, "spec")) === shippedDigests[`${kind} ${name}`]) return undefined;
  return `${kind} ${name} is not that of config/policy of this version`;
}

/** The object, undefined if there is none, or why that is not said. */
async function read(client: KubeClient, kind: (typeof resource)["policies" | "policyBindings"], name: string) {
  try {
    return await client.get<KubeObject>(kind, { name });
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error) || error.status === 401) throw error;
    return `${kind.kind} ${name} cannot be read (${error.message})`;
  }
}

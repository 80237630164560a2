import { listed } from "../../api/values/listed.ts";
import type { Raw } from "../../explain/facts.ts";
import { nextStep } from "../../explain/next-steps.ts";
import { policyBindings } from "../../kube/policies/policies.ts";
import type { Reading } from "../cluster.ts";
import type { InstalledFacts } from "./facts.ts";
import { someOf } from "./groups.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

const apply = nextStep("PolicyMissing") ?? "";

/** Inputs of the check of the admission policies. */
export interface PolicyInput extends Pick<InstalledFacts, "policies" | "states" | "sets"> {
  /** Of this program. */
  readonly version: string;
  /** Nodes with a ready agent; undefined if that is not known: then each node that has reported. */
  readonly running: ReadonlySet<string> | undefined;
  /** Whether a controller leads: it then reports which policy is missing. */
  readonly isLed: boolean;
}

/**
 * PURE. Whether the admission policies are in force: by their objects, and by what agents and controller report. Each
 * agent tries whether the API server refuses it; the controller sees the objects alone. What an agent that is gone has
 * reported does not count: nobody would take it back.
 */
export function checkPolicies({ policies, states, sets, version, running, isLed }: PolicyInput): Found {
  const believed = states.items.filter(({ node }) => running?.has(node) ?? true);
  const said = [...believed, ...sets.items].flatMap(({ unguarded }) => unguarded ?? []);
  const [reported] = said;
  const gone = policies.items.filter((finding) => finding.gone);
  if (gone.length > 0) return failed(listed([...new Set(gone.map(({ message }) => message))], 2), apply);
  if (reported !== undefined) return failed(reported, apply);
  if (policies.denied !== undefined) {
    if (isLed && sets.items.length > 0) return ok("the controller reports none that is missing");
    return unknown(policies.denied);
  }
  if (policies.items.length > 0) {
    const names = someOf([...new Set(policies.items.map(({ policy }) => policy))]);
    const remedy =
      "Use kubectl nvi of the version that is installed. If it is, and nobody changed them on purpose: kubectl apply --server-side -k config/policy";
    return limited(`not those of ${version}: ${names}`, remedy);
  }
  return ok(`all ${policyBindings.length} are there, and deny`);
}

/** PURE. Whether pods wait for their volumes before they are scheduled. */
export function checkGates({
  servesGates,
  gates,
}: {
  readonly servesGates: boolean;
  readonly gates: Reading<Raw>;
}): Found {
  if (!servesGates)
    return limited(
      "MutatingAdmissionPolicy is not served: pods are scheduled before their volumes are known",
      "Give pods the gate nodevolume.dev/volumes by hand: docs/readiness.md",
    );
  if (gates.denied !== undefined) return unknown(gates.denied);
  if (gates.items.length === 2) return ok("pods wait until their volumes are available");
  return limited(
    "the policy nodevolume-gates is not there: pods are scheduled before their volumes are known",
    "Add components: [../components/scheduling-gates] to your kustomization (docs/readiness.md)",
  );
}

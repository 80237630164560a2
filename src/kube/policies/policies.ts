import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import { ApiError, isUnavailable, noneIfNotServed } from "../client/api-error.ts";
import type { KubeClient } from "../client/client.ts";
import { arrayIn, recordIn, stringIn } from "../json.ts";
import { policyDigest } from "./policy-digest.ts";
import { shippedDigests } from "./policy-digests.gen.ts";

/** A binding of config/policy, with its policy. */
export type PolicyBinding = readonly [binding: string, policy: string];

/** Keeps each agent from writing for another node: what the controller believes of agents rests on it. */
export const agentsPolicy = "nodevolume-agents";

/** Without which nobody knows who has written what agents say: by name of policy and binding. */
export const believedBy: ReadonlySet<string> = new Set([agentsPolicy, "nodevolume-acknowledgements"]);

/** Every binding of config/policy: what the controller's safety rests on. */
export const policyBindings: readonly PolicyBinding[] = [
  ["nodevolume-acknowledgements", "nodevolume-acknowledgements"],
  [agentsPolicy, agentsPolicy],
  ["nodevolume-attachments", "nodevolume-attachments"],
  ["nodevolume-claim-marks", "nodevolume-claim-marks"],
  ["nodevolume-claim-writes", "nodevolume-claim-writes"],
  ["nodevolume-claims", "nodevolume-claims"],
  ["nodevolume-claims-reserved", "nodevolume-claims"],
  ["nodevolume-definitions", "nodevolume-definitions"],
  ["nodevolume-intents", "nodevolume-intents"],
  ["nodevolume-pods", "nodevolume-pods"],
  ["nodevolume-probes", "nodevolume-probes"],
  ["nodevolume-readiness", "nodevolume-readiness"],
];

/** What an agent's safety rests on: who may write what it mounts as root, and that nobody else speaks for its node. */
export const bindingsOfAgent: readonly PolicyBinding[] = [
  [agentsPolicy, agentsPolicy],
  ["nodevolume-intents", "nodevolume-intents"],
];

/** By the name of a policy or binding, the digests that somebody has said to be right, beside that of config/policy. */
export type AcceptedPolicies = ReadonlyMap<string, ReadonlySet<string>>;

/** No deviation of an admission policy is accepted. */
export const noneAccepted: AcceptedPolicies = new Map();

/** What is wrong with one policy or its binding. */
export interface PolicyFinding {
  /** The policy that is not as it should be, itself or by its binding. */
  readonly policy: string;
  /**
   * It refuses nothing; otherwise it decides something else than it did when this version was made, or may not be read.
   */
  readonly gone: boolean;
  readonly message: string;
}

/** What a look at the policies has shown. */
export interface PolicyInspection {
  readonly findings: readonly PolicyFinding[];
  /**
   * Which objects keep the agents apart, by uid and generation: another text says that others did between two looks.
   */
  readonly agents: string;
}

/** PURE. The findings as one sentence with what to do; undefined if there are none. */
export function policySentence(findings: readonly PolicyFinding[]): string | undefined {
  const said = [...new Set(findings.map(({ message }) => message))];
  if (said.length === 0) return undefined;
  return `${said.join("; ")}: apply config/policy`;
}

/**
 * PURE. That, and what the controller does not do until then. An agent cannot say so: the controller sees objects, and
 * where these are there and the admission plugin is off it goes on.
 */
export function controllerSentence(findings: readonly PolicyFinding[]): string | undefined {
  const sentence = policySentence(findings);
  const ofAgents = findings.some(({ policy }) => believedBy.has(policy));
  return sentence !== undefined && ofAgents
    ? `${sentence}. Until then no acknowledgement of an agent counts, and nothing is detached`
    : sentence;
}

/**
 * Whether admission policies of config/policy are there and decide what they did when this version was made, and their
 * bindings deny.
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function inspectPolicies(
  client: KubeClient,
  bindings: readonly PolicyBinding[],
  accepted: AcceptedPolicies = noneAccepted,
): Promise<PolicyInspection> {
  const found = await Promise.all(bindings.map((names) => lookAtOne(client, names, accepted)));
  return {
    findings: found.flatMap(({ finding }) => finding ?? []),
    agents: found.flatMap(({ policy, identity }) => (believedBy.has(policy) ? identity : [])).join(),
  };
}

async function lookAtOne(
  client: KubeClient,
  [binding, policy]: PolicyBinding,
  accepted: AcceptedPolicies,
): Promise<{ policy: string; identity: readonly string[]; finding: PolicyFinding | undefined }> {
  const [bound, rules] = await Promise.all([
    read(client, resource.policyBindings, binding),
    read(client, resource.policies, policy),
  ]);
  const identity = [bound, rules].map(identityOf);
  return { policy, identity, finding: findingOf([binding, policy], bound, rules, accepted) };
}

function identityOf(found: Answer): string {
  return typeof found === "object" ? `${found.metadata.uid}/${found.metadata.generation}` : "none";
}

function findingOf(
  [binding, policy]: PolicyBinding,
  bound: Answer,
  rules: Answer,
  accepted: AcceptedPolicies,
): PolicyFinding | undefined {
  const unread = [bound, rules].find((found) => typeof found === "string");
  if (unread !== undefined) return { policy, gone: false, message: unread };
  const gone = whyGone([binding, policy], bound, rules);
  if (gone !== undefined) return { policy, gone: true, message: gone };
  const message =
    notAsShipped("ValidatingAdmissionPolicyBinding", binding, bound, accepted) ??
    notAsShipped("ValidatingAdmissionPolicy", policy, rules, accepted);
  return message === undefined ? undefined : { policy, gone: false, message };
}

type Answer = Awaited<ReturnType<typeof read>>;

function whyGone([binding, policy]: PolicyBinding, bound: Answer, rules: Answer): string | undefined {
  if (bound === undefined) return `there is no ValidatingAdmissionPolicyBinding ${binding}`;
  if (rules === undefined) return `there is no ValidatingAdmissionPolicy ${policy}`;
  const spec = recordIn(bound, "spec");
  if (stringIn(spec, "policyName") !== policy) return `the binding ${binding} names another policy than ${policy}`;
  if (!arrayIn(spec, "validationActions").includes("Deny")) return `the binding ${binding} does not deny`;
  if (stringIn(recordIn(rules, "spec"), "failurePolicy") === "Ignore")
    return `the policy ${policy} ignores its failures`;
  return undefined;
}

/** Digits of a digest that are shown, and by which another policy than ours is accepted. */
const shownDigits = 16;

function notAsShipped(kind: string, name: string, found: Answer, accepted: AcceptedPolicies): string | undefined {
  const digest = policyDigest(recordIn(found, "spec"));
  const shown = digest.slice(0, shownDigits);
  if (digest === shippedDigests[`${kind} ${name}`] || accepted.get(name)?.has(shown) === true) return undefined;
  const generation = typeof found === "object" ? ` (generation ${found.metadata.generation ?? "unknown"})` : "";
  return `${kind} ${name}${generation} is not that of config/policy of this version, its digest is ${shown}`;
}

/** The object, undefined if there is none, or why that is not said. */
async function read(client: KubeClient, kind: (typeof resource)["policies" | "policyBindings"], name: string) {
  try {
    return await client.get<KubeObject>(kind, { name }).catch(noneIfNotServed);
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error) || error.status === 401) throw error;
    return `${kind.kind} ${name} cannot be read (${error.message})`;
  }
}

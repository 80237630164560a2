import { policyProbe, resource, systemNamespace } from "../api/names.ts";
import { messageOf } from "../errors.ts";
import { ApiError, isConflict, isUnavailable } from "../kube/api-error.ts";
import type { KubeClient } from "../kube/client.ts";
import {
  type AcceptedPolicies,
  agentsPolicy,
  bindingsOfAgent,
  lookAtPolicies,
  type PolicyLook,
} from "../kube/policies.ts";

/**
 * What is wrong with the policies that an agent's safety rests on: by their objects, and that of the agents also at work.
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function lookAtOwnPolicies(client: KubeClient, accepted: AcceptedPolicies): Promise<PolicyLook> {
  const [message, { findings, agents }] = await Promise.all([
    agentPolicyMissing(client),
    lookAtPolicies(client, bindingsOfAgent, accepted),
  ]);
  const refused = message === undefined ? [] : [{ policy: agentsPolicy, gone: true, message }];
  return { findings: [...refused, ...findings], agents };
}

/**
 * Whether the policy of the agents is in force, by a dry run of what it must refuse: a Lease that is not this node's. RBAC lets an
 * agent make any, so an answer of any other kind than a refusal by that policy says that each agent could write for all.
 * @returns the sentence that says so; undefined if the policy refused
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function agentPolicyMissing(client: KubeClient): Promise<string | undefined> {
  const lease = { metadata: { namespace: systemNamespace, name: policyProbe }, spec: {} };
  try {
    await client.create(resource.leases, lease, { dryRun: true });
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error) || error.status === 401) throw error;
    const said = messageOf(error);
    if (error.status === 403 && said.includes(agentsPolicy)) return undefined;
    // That there is one already is found only after admission has let it through.
    if (!isConflict(error)) return `whether the policy ${agentsPolicy} is in force cannot be found out: ${said}`;
  }
  return `the policy ${agentsPolicy} does not refuse that this agent writes for another node`;
}

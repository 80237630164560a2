import { policyProbe, resource, systemNamespace } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, isConflict, isUnavailable } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import {
  type AcceptedPolicies,
  agentsPolicy,
  bindingsOfAgent,
  inspectPolicies,
  type PolicyFinding,
  type PolicyInspection,
} from "../../kube/policies/policies.ts";

/**
 * What is wrong with the policies that an agent's safety rests on: by their objects, and that of the agents also at
 * work.
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function inspectOwnPolicies(client: KubeClient, accepted: AcceptedPolicies): Promise<PolicyInspection> {
  const [probed, { findings, agents }] = await Promise.all([
    probeAgentsPolicy(client),
    inspectPolicies(client, bindingsOfAgent, accepted),
  ]);
  return { findings: [...(probed === undefined ? [] : [probed]), ...findings], agents };
}

/**
 * Checks whether the admission policy for agents is in force, by a dry run that it must refuse: creating a Lease of
 * another node. RBAC lets an agent create any Lease, so that an accepted dry run means that each agent could write for
 * all. If someone else refuses it, such as a webhook for all Leases, the state of the policy is unknown: that is
 * reported, and does not make all agents of a cluster unready.
 * @returns the problem; undefined if the policy refused
 * @throws ApiError, TransportError if the API server could not be asked
 */
export async function probeAgentsPolicy(client: KubeClient): Promise<PolicyFinding | undefined> {
  const lease = { metadata: { namespace: systemNamespace, name: policyProbe }, spec: {} };
  try {
    await client.create(resource.leases, lease, { dryRun: true });
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error) || error.status === 401) throw error;
    const said = messageOf(error);
    if (error.status === 403 && said.includes(agentsPolicy)) return undefined;
    // That there is one already is found only after admission has let it through.
    if (!isConflict(error)) {
      const message = `it is unknown whether the policy ${agentsPolicy} is in force: ${said}`;
      return { policy: agentsPolicy, gone: false, message };
    }
  }
  const message = `the policy ${agentsPolicy} does not refuse that this agent writes for another node`;
  return { policy: agentsPolicy, gone: true, message };
}

import type { KubeObject } from "../../api/meta.ts";
import { label, resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, isUnavailable } from "../../kube/api-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Random } from "../../ports.ts";
import type { Claim } from "../attach/objects.ts";

/** The policy that lets nobody but the controller set or clear our marks. */
const marksPolicy = "nodevolume-claim-marks";

/**
 * Asks the server whether it would take a pod that names a claim, and whether our marks are guarded.
 * @returns why the claim is not safe; undefined if the pod is refused by our policy
 */
export async function probePolicy(
  client: KubeClient,
  random: Random,
  { metadata }: Claim,
): Promise<string | undefined> {
  const kinds = [resource.policies, resource.policyBindings];
  const [refusal, ...guards] = await Promise.all([
    whyNotRefused(client, random, metadata),
    ...kinds.map((kind) => client.get(kind, { name: marksPolicy })),
  ]);
  const missing = kinds.find((_, index) => guards[index] === undefined);
  return missing === undefined ? refusal : `there is no ${missing.kind} ${marksPolicy}`;
}

async function whyNotRefused(
  client: KubeClient,
  random: Random,
  { namespace = "", name }: Claim["metadata"],
): Promise<string | undefined> {
  try {
    await client.create(resource.pods, probe(namespace, name, random.uuid()), { dryRun: true });
    return "no policy refuses it (config/policy; none does in kube-system and in our own namespace)";
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error)) throw error;
    const because = messageOf(error);
    if (error.status === 403 && [label.held, label.reserved].some((one) => because.includes(one))) return undefined;
    return `it is refused for another reason: ${because}`;
  }
}

/** A pod that even a restricted namespace takes. It is never written. */
function probe(namespace: string, claimName: string, id: string): KubeObject {
  const resources = { cpu: "1m", memory: "1Mi" };
  const spec = {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "probe",
        image: "nodevolume.dev/never-pulled",
        resources: { requests: resources, limits: resources },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
    ],
    volumes: [{ name: "claim", persistentVolumeClaim: { claimName } }],
  };
  return { metadata: { name: `nodevolume-probe-${id}`, namespace }, spec } as KubeObject;
}

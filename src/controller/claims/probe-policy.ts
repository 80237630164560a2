import type { KubeObject } from "../../api/meta.ts";
import { label, resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, isUnavailable, noneIfNotServed } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Random } from "../../ports.ts";
import type { Claim } from "../model/storage-objects.ts";

/** The policy that lets nobody but the controller set or clear our marks. */
const marks = "nodevolume-claim-marks";
/**
 * The policies that a claim is closed by, with their bindings: beside our label, or by the label of its owner alone.
 */
const guards = {
  held: [],
  reserved: [
    { kind: resource.policies, name: "nodevolume-claims" },
    { kind: resource.policyBindings, name: "nodevolume-claims-reserved" },
  ],
} as const;

/** What became of a pod that names a claim, on trial. */
export interface Trial {
  /** Why the claim is not safe; undefined if the pod was refused by our policy, and our marks are guarded. */
  readonly why: string | undefined;
  /** Which policies there are, and in which version: another text if any of them was changed or made anew. */
  readonly policies: string;
}

/** Asks the server whether it would take a pod that names a claim, and whether our marks are guarded. */
export async function probePolicy(
  { client, random }: { readonly client: KubeClient; readonly random: Random },
  { metadata }: Claim,
  by: keyof typeof guards,
): Promise<Trial> {
  const wanted = [
    { kind: resource.policies, name: marks },
    { kind: resource.policyBindings, name: marks },
    ...guards[by],
  ];
  const [refusal, ...found] = await Promise.all([
    whyNotRefused(client, probe(metadata, random.uuid()), label[by]),
    ...wanted.map(({ kind, name }) => client.get(kind, { name }).catch(noneIfNotServed)),
  ]);
  const missing = wanted.find((_, index) => found[index] === undefined);
  const policies = found.map((one) => `${one?.metadata.uid} ${one?.metadata.generation}`).join();
  return { why: missing === undefined ? refusal : `there is no ${missing.kind.kind} ${missing.name}`, policies };
}

/** @param because the label that our policy names when it refuses the pod */
async function whyNotRefused(client: KubeClient, pod: KubeObject, because: string): Promise<string | undefined> {
  try {
    await client.create(resource.pods, pod, { dryRun: true });
    return "no policy refuses it (config/policy; none does in kube-system and in our own namespace)";
  } catch (error) {
    if (!(error instanceof ApiError) || isUnavailable(error)) throw error;
    const said = messageOf(error);
    return error.status === 403 && said.includes(because) ? undefined : `it is refused for another reason: ${said}`;
  }
}

/** A pod that even a restricted namespace takes. It is never written. */
function probe({ namespace = "", name: claimName }: Claim["metadata"], id: string): KubeObject {
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

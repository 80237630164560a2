import { messageOf } from "../../errors.ts";
import { type PodIdentity, PodTokens } from "../client/pod-tokens.ts";
import { tokensKey } from "../client/secrets-of.ts";
import type { NodePublishVolumeRequest } from "../gen/csi.gen.ts";
import type { PodTarget } from "./ports.ts";
import { RefusedCall } from "./refused-call.ts";

const serviceAccountKey = "csi.storage.k8s.io/serviceAccount.name";

/**
 * PURE. Whether tokens stand where the pod itself might have written them, into its volumeAttributes, unless kubelet
 * has put its own there.
 */
export function hasTokensInContext({ secrets, volumeContext }: NodePublishVolumeRequest): boolean {
  return !secrets.has(tokensKey) && volumeContext.has(tokensKey);
}

/**
 * PURE. The tokens of the pod that kubelet hands over, and whose they are; undefined if it hands over none. Among the
 * secrets nobody else can put them: no key of a Secret has a slash.
 * @param inContext whether kubelet writes the tokens into the volume context, over what the pod has written there
 * @throws RefusedCall if they are another pod's, or cannot be read; without a piece of them
 */
export function podIdentity(
  { secrets, volumeContext }: NodePublishVolumeRequest,
  { podUID }: Pick<PodTarget, "podUID">,
  inContext: boolean,
): PodIdentity | undefined {
  const json = secrets.get(tokensKey) ?? (inContext ? volumeContext.get(tokensKey) : undefined);
  if (json === undefined) return undefined;
  try {
    const serviceAccount = volumeContext.get(serviceAccountKey) ?? "";
    if (serviceAccount === "") throw new Error(`volume_context[${serviceAccountKey}] is needed with tokens`);
    return { serviceAccount, tokens: PodTokens.read(json, podUID) };
  } catch (error) {
    throw new RefusedCall("INVALID_ARGUMENT", `${tokensKey}: ${messageOf(error)}`);
  }
}

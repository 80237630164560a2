import type { Secrets, VolumeCapability } from "../ports.ts";

/** Where kubelet puts tokens for drivers with tokenRequests: JSON, {audience: {token, expirationTimestamp}}. */
export const tokensKey = "csi.storage.k8s.io/serviceAccount.tokens";

/** CSI: mount flags may be sensitive. Those that are by their name; the rest is what an error is about. */
const secretFlag = /^[\w.-]*(?:pass|secret|token|key|cred)[\w.-]*=(.+)$/i;

/** PURE. Every text of a request that nobody but the driver may see. */
export function secretsOf(request: {
  readonly secrets: Secrets;
  readonly volumeContext?: ReadonlyMap<string, string>;
  readonly capability: VolumeCapability;
}): string[] {
  const tokens = [request.secrets.get(tokensKey), request.volumeContext?.get(tokensKey)];
  const { volume } = request.capability;
  const flags = volume.kind === "mount" ? volume.mountFlags : [];
  return [
    ...request.secrets.values(),
    ...tokens.flatMap((json) => (json === undefined ? [] : tokensIn(json))),
    ...flags.flatMap((flag) => secretFlag.exec(flag)?.[1] ?? []),
  ];
}

/** The JSON, and each token in it. */
function tokensIn(json: string): string[] {
  const found = [json];
  try {
    for (const entry of Object.values(JSON.parse(json) as { [audience: string]: unknown })) {
      if (typeof entry === "object" && entry !== null && "token" in entry) found.push(String(entry.token));
    }
  } catch {
    // not JSON: all of it is the secret
  }
  return found;
}

import type { VolumeProjection } from "../../api/types.gen.ts";
import type { PayloadFile } from "../../host/ports/host-ports.ts";
import type { ContentRef, ObjectContent } from "../api/content.ts";
import { type ContentPlugin, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { memoryLayout, stageInMemory, withPayload } from "../staging.ts";
import { nodeFieldsRef } from "./downward-api.ts";
import { defaultMode, fieldFiles, keyFiles, mergedFiles } from "./payload.ts";

const tokenSeconds = 3600; // core/v1: ServiceAccountTokenProjection.expirationSeconds

/**
 * Several sources in one directory, in memory, written as one. A source that is not there and not optional leaves all
 * as it is. (kubelet: pkg/volume/projected; its podCertificate needs a pod: decision 0044)
 */
export const projected: ContentPlugin = {
  type: "projected",

  layout: (spec) => ({
    ...memoryLayout(spec),
    content: sourceOf(spec, "projected").sources.map((source) => refOf(spec, source)),
  }),

  stage: (spec, context) => withPayload(projected, spec, context, () => stageInMemory(spec, context)),

  payload(spec, contents, fsGroup) {
    const { sources, defaultMode: mode = defaultMode } = sourceOf(spec, "projected");
    return mergedFiles(
      sources.map((source, i) => {
        const content = contents[i];
        return content === undefined ? [] : filesOf(source, content, mode, fsGroup);
      }),
    );
  },
};

function refOf(spec: VolumeSpec, source: VolumeProjection): ContentRef {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  if (configMap) return { kind: "ConfigMap", ...objectOf(configMap) };
  if (secret) return { kind: "Secret", ...objectOf(secret) };
  if (downwardAPI) return nodeFieldsRef(spec, downwardAPI.items);
  if (token) {
    const { namespace, serviceAccountName: name, audience, expirationSeconds = tokenSeconds } = token;
    return { kind: "ServiceAccount", namespace, name, nodeName: spec.nodeName, audience, expirationSeconds };
  }
  if (bundle) {
    const { name, signerName, labelSelector, optional = false } = bundle;
    const selector = name === undefined ? (labelSelector ?? "none") : undefined; // core/v1: unset selects nothing
    return { kind: "ClusterTrustBundle", name: name ?? signerName ?? "", selector, optional };
  }
  throw new Error("a projection without a source");
}

/** Of a token that a group may read besides its owner, and nobody else (kubelet: projected.go). */
const ownerOnly = 0o600;

function objectOf({ namespace, name, optional = false }: { namespace: string; name: string; optional?: boolean }) {
  return { namespace, name, optional };
}

function filesOf(
  source: VolumeProjection,
  content: ObjectContent,
  mode: number,
  fsGroup: number | undefined,
): readonly PayloadFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  if (configMap) return keyFiles(configMap, content, { mode, what: `ConfigMap ${configMap.name}` });
  if (secret) return keyFiles(secret, content, { mode, what: `Secret ${secret.name}` });
  if (downwardAPI) return fieldFiles(downwardAPI.items, content, mode);
  if (token) {
    const shown = content.data.get("token") ?? new Uint8Array();
    return [{ path: token.path, content: shown, mode: fsGroup === undefined ? mode : ownerOnly }];
  }
  if (bundle) return [{ path: bundle.path, content: content.data.get("bundle") ?? new Uint8Array(), mode }];
  throw new Error("a projection without a source");
}

import type { Reason } from "../../api/reasons.ts";
import { messageOf, unreachable } from "../../errors.ts";
import { ApiError } from "../../kube/client/api-error.ts";
import type { ContentRef } from "../../plugins/api/content.ts";
import type { Problem } from "../model/actual-volume.ts";

/** What can be wrong with content, for people. */
export interface ContentProblems {
  /** The API server says that it is not there. */
  readonly missing: Problem;
  /** It was not read yet. */
  readonly unknown: Problem;
  /** Why the API server gives nothing, if that needs somebody; undefined if it may the next time. */
  refused(error: unknown): Problem | undefined;
  failed(error: unknown): Problem;
}

/** PURE. */
export function problemsOf(ref: ContentRef): ContentProblems {
  const { kind, name } = ref;
  const namespace = "namespace" in ref ? ref.namespace : undefined;
  const on = { kind, ...(namespace !== undefined && { namespace }), name };
  const what = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  const problem = (reason: Reason, message: string): Problem => ({ reason, message, on });
  const { reasons, absent, unserved = absent, denied } = wordsOf(ref);
  return {
    missing: problem(reasons.missing, absent),
    unknown: problem("ContentUnknown", `${what} was not read yet`),
    refused(error) {
      if (!(error instanceof ApiError)) return undefined;
      if (error.status === 403) return problem(reasons.denied, `${denied}${because(ref, error)}`);
      return error.status === 404 ? problem(reasons.missing, `${unserved}${because(ref, error)}`) : undefined;
    },
    failed: (error) => problem("ContentUnknown", `${what} cannot be read: ${messageOf(error)}`),
  };
}

/** A token is refused for more than one reason, and only the API server knows which. */
function because(ref: ContentRef, error: ApiError): string {
  return ref.kind === "ServiceAccount" ? ` (${error.message})` : "";
}

interface Words {
  readonly reasons: { readonly missing: Reason; readonly denied: Reason };
  readonly absent: string;
  /** Of what is listed: a list that is not found is of a kind that the API server does not know. */
  readonly unserved?: string;
  readonly denied: string;
}

function wordsOf(ref: ContentRef): Words {
  const { name } = ref;
  switch (ref.kind) {
    case "ConfigMap":
    case "Secret": {
      const { kind, namespace } = ref;
      const plural = kind === "ConfigMap" ? "configmaps" : "secrets";
      return {
        reasons: { missing: `${kind}NotFound`, denied: `${kind}AccessDenied` },
        absent: `there is no ${kind} ${name} in namespace ${namespace}: create it, or set optional: true`,
        denied: `the agent may not read ${plural} in namespace ${namespace}: grant it there (config/components/object-access)`,
      };
    }
    case "ServiceAccount":
      return {
        reasons: { missing: "ServiceAccountNotFound", denied: "TokenAccessDenied" },
        absent: `there is no ServiceAccount ${name} in namespace ${ref.namespace}, or no Node ${ref.nodeName} to bind its token to: create it`,
        denied: `the agent gets no token of ServiceAccount ${name} in namespace ${ref.namespace}: grant it there (config/components/token-access)`,
      };
    case "Node":
      return {
        reasons: { missing: "NodeNotFound", denied: "NodeAccessDenied" },
        absent: `there is no Node ${name}: it comes back when its kubelet registers`,
        denied:
          "neither the agent nor, by it, its node may read the Node, of which downwardAPI shows fields: grant it (config/components/node-fields)",
      };
    case "ClusterTrustBundle": {
      const which =
        ref.selector === undefined ? `ClusterTrustBundle ${name}` : `ClusterTrustBundle of ${name} that is selected`;
      return {
        reasons: { missing: "TrustBundleNotFound", denied: "TrustBundleAccessDenied" },
        absent: `there is no ${which}: create it, or set optional: true`,
        unserved:
          "the API server does not serve certificates.k8s.io/v1beta1, which has ClusterTrustBundles: switch it on (feature gate ClusterTrustBundle and --runtime-config), or take the bundle out of the volume, optional or not",
        denied: "the agent may not read ClusterTrustBundles: grant it get, list and watch (config/rbac/agent.yaml)",
      };
    }
    default:
      return unreachable(ref);
  }
}

import { createTokenAccess } from "../kube/access/token-access.ts";
import type { KubeClient } from "../kube/client/client.ts";
import type { Clock } from "../ports.ts";
import type { SecureMetrics } from "./health-server.ts";
import { selfSigned } from "./self-signed.ts";

/**
 * Metrics by TLS, to those alone who may get /metrics, as controller-runtime serves them. The certificate is made at
 * each start and signed by nobody: it keeps what is sent from who listens, and does not say who is asked.
 */
export function secureMetrics(deps: {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly audience: string | undefined;
}): SecureMetrics {
  return { tls: selfSigned("nodevolume-metrics"), access: createTokenAccess({ ...deps, path: "/metrics" }) };
}

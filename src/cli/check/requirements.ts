import { isBefore, type Version } from "./version.ts";

/** What an installation needs; docs/platforms/README.md has the same, and a test compares the two. */
export const requirements = {
  kubernetes: { major: 1, minor: 32 },
  /** From here on config/default applies as it is, and agents read as their own node. */
  wholeKubernetes: { major: 1, minor: 36 },
  kernel: { major: 5, minor: 12 },
  architectures: ["amd64", "arm64"],
} as const satisfies { [name: string]: Version | readonly string[] };

/** Minor versions that a kubelet may be older than its API server (kubernetes.io/releases/version-skew-policy). */
const kubeletSkew = 3;

/** PURE. Whether Kubernetes supports a kubelet with an API server. */
export function isSupportedKubelet(kubelet: Version, server: Version): boolean {
  if (kubelet.major !== server.major || isBefore(server, kubelet)) return false;
  return server.minor - kubelet.minor <= kubeletSkew;
}

/** A Kubernetes version, as far as it is compared. */
export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** PURE. Of `v1.34.2-gke.100` 1.34, of `5.15.0-76-generic` 5.15; undefined of what does not begin so. */
export function versionOf(text: string): Version | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** PURE. Whether `a` is older than `b`. */
export function isBefore(a: Version, b: Version): boolean {
  return a.major === b.major ? a.minor < b.minor : a.major < b.major;
}

/** PURE. */
export function versionText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

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

/** PURE. Whether Kubernetes supports a kubelet with an API server, as far as its version is known. */
export function isSupportedKubelet(text: string, server: Version): boolean {
  const kubelet = versionOf(text);
  if (kubelet === undefined) return true;
  if (kubelet.major !== server.major || isBefore(server, kubelet)) return false;
  return server.minor - kubelet.minor <= kubeletSkew;
}

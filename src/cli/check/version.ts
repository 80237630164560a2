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

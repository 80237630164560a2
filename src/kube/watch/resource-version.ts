/**
 * Orders two resourceVersions of the same resource: negative if `a` is the older one, 0 if they are equal. They are
 * decimal numbers that only grow, which clients may rely on since Kubernetes 1.35 (KEP-5504). "" is older than all.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

import type { PodEntry } from "../model/pod-entry.ts";
import { compareText } from "../util/canonical-json.ts";

/**
 * The pods of a node, the oldest first, each UID once: the API server takes no list with two of the same. A UID that it
 * gave is a pod's own; that of a mirror is what somebody wrote, so it never takes the place of another's. Pure.
 */
export function dedupeByUID(pods: Iterable<PodEntry>): PodEntry[] {
  const sorted = [...pods].sort(
    (a, b) => Number(a.isMirror) - Number(b.isMirror) || a.created - b.created || compareText(a.uid, b.uid),
  );
  const seen = new Set<string>();
  return sorted.filter(({ uid }) => !seen.has(uid) && seen.add(uid));
}

import type { Intent } from "../model/projections.ts";
import type { Candidate, RejectionReason } from "./admitted-pods.ts";

/** spec.pods of an intent has at most 256 entries (crds/). */
const mostPods = 256;
/** Characters of JSON; an entry has about 170, and decision 0032 says what that costs. */
const longestPods = 64 * 1024;
/**
 * Of both, what the pods of one namespace may have of a volume that others may use, too: nobody crowds out all others.
 */
const shareOfNamespace = 3 / 4;

/** Which pods fit into an intent, and which do not, with the reason. */
export interface Fitting {
  readonly taken: readonly Candidate[];
  readonly refused: readonly (RejectionReason & { readonly candidate: Candidate })[];
}

/**
 * Those of an intent's pods that fit into it. Who is in it already goes first, then the oldest, so that a newcomer
 * never displaces anybody. A volume for one pod goes to one. Pure.
 */
export function compatiblePods(
  candidates: readonly Candidate[],
  facts: { readonly intent: Intent | undefined; readonly isForOnePod: (source: Intent["spec"]["source"]) => boolean },
): Fitting {
  const taken: Candidate[] = [];
  const refused: (RejectionReason & { candidate: Candidate })[] = [];
  const all = { entries: 0, length: 0 };
  const ofNamespace = new Map<string, typeof all>();
  const inOrder = [...candidates].sort((a, b) => Number(b.found) - Number(a.found));
  for (const candidate of inOrder) {
    const other = rivalOf(candidate, taken, facts);
    if (other !== undefined) {
      const message = `the volume is ReadWriteOncePod, and ${other} uses it`;
      refused.push({ candidate, reason: "AccessModeMismatch", message });
      continue;
    }
    const ownLength = JSON.stringify({ ...candidate.entry, ...candidate.pod.group }).length;
    const { namespace } = candidate.entry;
    const own = ofNamespace.get(namespace) ?? { entries: 0, length: 0 };
    const share = candidate.set === undefined || candidate.found ? 1 : shareOfNamespace;
    const message = isFull(all, ownLength, 1)
      ? `too many pods use one volume on one node: at most ${mostPods}, and 64 KiB`
      : isFull(own, ownLength, share)
        ? `too many pods of namespace ${namespace} use one volume on one node: at most ${mostPods * share}, and 48 KiB`
        : undefined;
    if (message !== undefined) {
      refused.push({ candidate, reason: "IntentTooLarge", message });
      continue;
    }
    taken.push(candidate);
    ofNamespace.set(namespace, own);
    for (const sum of [all, own]) {
      sum.entries += 1;
      sum.length += ownLength;
    }
  }
  return { taken, refused };
}

function isFull(sum: { readonly entries: number; readonly length: number }, more: number, share: number): boolean {
  return sum.entries >= mostPods * share || sum.length + more > longestPods * share;
}

/** Who has a volume that only one pod may use. */
function rivalOf(
  { pod, target }: Candidate,
  taken: readonly Candidate[],
  { intent, isForOnePod }: Parameters<typeof compatiblePods>[1],
): string | undefined {
  const granted = intent?.spec.grant?.csi?.accessMode;
  const alone = granted === undefined ? isForOnePod(target.source) : granted === "ReadWriteOncePod";
  if (!alone) return undefined;
  const [mount] = intent?.spec.mounts ?? [];
  if (mount !== undefined) return `NodeVolumeSet ${mount.requester.name}`;
  const other = taken.find((one) => one.pod.uid !== pod.uid);
  return other && `pod ${other.pod.metadata.namespace}/${other.pod.metadata.name}`;
}

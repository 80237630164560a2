import type { SetEntry } from "../model/projections.ts";
import type { SetShare } from "../model/set-share.ts";
import { compareText } from "../util/canonical-json.ts";

/** spec.mounts of an intent has at most 64 entries (crds/). */
const maxMounts = 64;
/** An intent stays under 32 KiB, and its status repeats the paths of its mounts. */
const maxMountsLength = 16 * 1024;

interface Candidate {
  readonly set: string;
  readonly entry: SetEntry | undefined;
  readonly found: readonly SetShare[];
  readonly wanted: SetShare | undefined;
}

/**
 * Sets whose mounts do not fit into the intent that they want. Those who are in it already go first, then the oldest,
 * so that a newcomer never displaces anybody. Pure.
 */
export function setsThatDoNotFit(candidates: readonly Candidate[]): Set<string> {
  const tooMuch = new Set<string>();
  const wanting = candidates.flatMap((c) => (c.wanted === undefined ? [] : [{ ...c, wanted: c.wanted }]));
  for (const sharers of Map.groupBy(wanting, ({ wanted }) => wanted.intentName).values()) {
    let mounts = 0;
    let length = 0;
    for (const { set, wanted } of [...sharers].sort(bySeniority)) {
      const ownLength = JSON.stringify(wanted.mounts).length;
      if (mounts + wanted.mounts.length > maxMounts || length + ownLength > maxMountsLength) tooMuch.add(set);
      else {
        mounts += wanted.mounts.length;
        length += ownLength;
      }
    }
  }
  return tooMuch;
}

function bySeniority(a: Candidate & { wanted: SetShare }, b: Candidate & { wanted: SetShare }): number {
  const isIn = (c: typeof a) => c.found.some((share) => share.intentName === c.wanted.intentName);
  return Number(isIn(b)) - Number(isIn(a)) || byAge(a, b);
}

/** The oldest first; the name decides between two of the same second. */
export function byAge(
  a: { readonly set: string; readonly entry: SetEntry | undefined },
  b: { readonly set: string; readonly entry: SetEntry | undefined },
): number {
  const created = (c: typeof a) => c.entry?.metadata.creationTimestamp ?? "";
  return compareText(created(a), created(b)) || compareText(a.set, b.set);
}

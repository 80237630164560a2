import type { SetOnNode } from "../model/node-input.ts";
import type { Intent } from "../model/projections.ts";
import { type SetShare, type Settings, sameSettings, settingsOfIntent } from "../model/set-share.ts";
import type { IntentName } from "../model/volume-identity.ts";

/**
 * The parts that each set is in with on one node. Pure. First what it wants, if it may; else what it has. Then,
 * settings belong to the volume: where the sets of an intent do not agree, who wants others than it has stays with what
 * it has.
 * @param live the intents of the node that are not being deleted
 */
export function chooseShares(
  setsOnNode: ReadonlyMap<string, SetOnNode>,
  live: ReadonlyMap<IntentName, Intent>,
  mayUpdate: (set: string) => boolean,
): Map<string, readonly SetShare[]> {
  const chosen = new Map([...setsOnNode].map(([set, onNode]) => [set, choose(onNode, mayUpdate(set))]));
  for (let changed = true; changed; ) {
    changed = false;
    const byIntent = Map.groupBy([...chosen.values()].flat(), (share) => share.intentName);
    for (const [set, shares] of chosen) {
      const onNode = setsOnNode.get(set);
      if (onNode === undefined || shares === onNode.found) continue;
      const agrees = shares.every((share) => {
        const inForce = settingsInForce(byIntent.get(share.intentName) ?? [], live.get(share.intentName));
        return inForce !== undefined && sameSettings(share.settings, inForce);
      });
      if (agrees) continue;
      chosen.set(set, onNode.found);
      changed = true;
    }
  }
  return chosen;
}

function choose(onNode: SetOnNode, admitted: boolean): readonly SetShare[] {
  const { state, found, wanted, held } = onNode;
  if (state === "leaving") return [];
  if (wanted === undefined || held || state === "frozen" || state === "current") return found;
  return state === "absent" || admitted ? [wanted] : found;
}

/** The settings that all parts of an intent agree on; else those that it has, or none if there is no intent. */
function settingsInForce(shares: readonly SetShare[], intent: Intent | undefined): Settings | undefined {
  const [first] = shares;
  if (first !== undefined && shares.every((share) => sameSettings(share.settings, first.settings)))
    return first.settings;
  return intent && settingsOfIntent(intent.spec);
}

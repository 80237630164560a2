import { canonicalJson } from "./canonical-json.ts";
import type { Part } from "./part.ts";
import { sameSettings, settingsOfIntent } from "./part.ts";
import type { Intent } from "./projections.ts";
import type { Stake } from "./resolve-node.ts";

/**
 * The parts that each set is in with on one node. Pure. First what it wants, if it may; else what it has. Then, settings
 * belong to the volume: where the sets of an intent do not agree, who wants others than it has stays with what it has.
 * @param live the intents of the node that are not being deleted
 */
export function chooseParts(
  stakes: ReadonlyMap<string, Stake>,
  live: ReadonlyMap<string, Intent>,
  mayUpdate: (set: string) => boolean,
): Map<string, readonly Part[]> {
  const chosen = new Map([...stakes].map(([set, stake]) => [set, choose(stake, mayUpdate(set))]));
  for (let changed = true; changed; ) {
    changed = false;
    const settings = new Map(
      [...chosen.values()].flat().map((part) => [part.intentName, settingsInForce(part.intentName, chosen, live)]),
    );
    for (const [set, parts] of chosen) {
      const stake = stakes.get(set);
      if (stake === undefined || parts === stake.found) continue;
      const agrees = parts.every((part) => {
        const inForce = settings.get(part.intentName);
        return inForce !== undefined && sameSettings(part.settings, inForce);
      });
      if (agrees) continue;
      chosen.set(set, stake.found);
      changed = true;
    }
  }
  return chosen;
}

function choose(stake: Stake, admitted: boolean): readonly Part[] {
  const { state, found, wanted, held } = stake;
  if (state === "leaving") return [];
  if (wanted === undefined || held || state === "frozen" || state === "current") return found;
  return state === "absent" || admitted ? [wanted] : found;
}

/** The one set of settings that all parts agree on; else what the intent has, or nothing if there is no intent. */
function settingsInForce(
  intentName: string,
  chosen: ReadonlyMap<string, readonly Part[]>,
  live: ReadonlyMap<string, Intent>,
) {
  const parts = [...chosen.values()].flat().filter((part) => part.intentName === intentName);
  const distinct = new Map(parts.map((part) => [canonicalJson(part.settings), part.settings]));
  const [only] = distinct.values();
  if (distinct.size === 1) return only;
  const intent = live.get(intentName);
  return intent && settingsOfIntent(intent.spec);
}

import type { Part, Settings } from "./part.ts";
import { sameSettings, settingsOfIntent } from "./part.ts";
import type { Intent } from "./projections.ts";
import type { Stake } from "./resolve-node.ts";

/**
 * The parts that each set is in with on one node. Pure. First what it wants, if it may; else what it has. Then,
 * settings belong to the volume: where the sets of an intent do not agree, who wants others than it has stays with what
 * it has.
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
    const byIntent = Map.groupBy([...chosen.values()].flat(), (part) => part.intentName);
    for (const [set, parts] of chosen) {
      const stake = stakes.get(set);
      if (stake === undefined || parts === stake.found) continue;
      const agrees = parts.every((part) => {
        const inForce = settingsInForce(byIntent.get(part.intentName) ?? [], live.get(part.intentName));
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

/** The settings that all parts of an intent agree on; else those that it has, or none if there is no intent. */
function settingsInForce(parts: readonly Part[], intent: Intent | undefined): Settings | undefined {
  const [first] = parts;
  if (first !== undefined && parts.every((part) => sameSettings(part.settings, first.settings))) return first.settings;
  return intent && settingsOfIntent(intent.spec);
}

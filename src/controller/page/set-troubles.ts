import { type ConditionType, findCondition } from "../../api/conditions.ts";
import { isBlocked } from "../../api/reasons.ts";
import type { Condition } from "../../api/types.gen.ts";
import type { SetEntry } from "../model/projections.ts";
import type { Judged } from "./standing-of.ts";

/** Something that is wrong with a set as a whole. */
export interface SetTrouble extends Judged {
  /** On which node, if it is about one. */
  readonly node?: string;
}

/**
 * PURE. Why a set is not had where no volume of it says so: it cannot be understood, selects no node, or no intent may
 * be written.
 * @param troubled nodes of which a volume of the set is in the list already
 */
export function setTroubles({ invalid, status }: SetEntry, troubled: (node: string) => boolean): SetTrouble[] {
  if (invalid !== undefined) return [{ standing: "blocked", reason: "Invalid", message: invalid }];
  const said = (type: ConditionType) => findCondition(status.conditions, type);
  const [ready, conflict, stalled, policies] = [
    said("Ready"),
    said("Conflict"),
    said("Stalled"),
    said("PoliciesInForce"),
  ];
  const since = ready?.lastTransitionTime;
  const ofNodes = (status.failing ?? [])
    .filter(({ node, reason }) => reason !== "Conflict" && isBlocked(reason) && !troubled(node))
    .map(({ node, reason, message = "" }) => ({
      ...{ standing: "blocked" as const, reason, message, node },
      ...(since !== undefined && { since }),
    }));
  return [
    ...(ready?.reason === "NoNodesSelected" ? [asSaid(ready, "waiting")] : []),
    ...(conflict?.status === "True" ? [asSaid(conflict)] : []),
    ...(stalled?.reason === "RolloutPaused" ? [asSaid(stalled)] : []),
    ...(policies?.status === "False" ? [asSaid(policies)] : []),
    ...ofNodes,
  ];
}

function asSaid(
  { reason, message, lastTransitionTime: since }: Condition,
  standing: Judged["standing"] = "blocked",
): SetTrouble {
  return { standing, reason, message, since };
}

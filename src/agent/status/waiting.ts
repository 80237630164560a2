import { cut, timestamp } from "../../api/conditions.ts";
import type { Waiting } from "../../api/types.gen.ts";
import type { WaitingOn } from "../../errors.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import type { StatusContext } from "./status-context.ts";
import { obstacleOf } from "./volume-state.ts";

/** The one thing that a volume waits for, since when, and when it is tried again. */
export function waitingOf(
  volume: VolumePlan,
  previous: Waiting | undefined,
  context: StatusContext,
): Waiting | undefined {
  const what = obstacleOf(volume);
  if (what === undefined) return undefined;
  const { reason, on, failure } = what;
  return {
    reason,
    message: cut(what.message, 1024),
    ...(on && { on: whom(on) }),
    since: previous?.reason === reason ? previous.since : timestamp(context.now),
    ...(failure && { attempts: failure.attempts, nextRetryTime: timestamp(failure.nextTime) }),
  };
}

function whom({ kind, namespace, name, node }: WaitingOn): NonNullable<Waiting["on"]> {
  return { kind, ...(namespace && { namespace }), name: cut(name, 512), ...(node && { node }) };
}

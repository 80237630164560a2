import { cut, timestamp } from "../api/conditions.ts";
import type { Waiting } from "../api/types.gen.ts";
import type { VolumePlan } from "./plan.ts";
import type { StatusContext } from "./status-of.ts";

/** The one thing that a volume waits for, since when, and when it is tried again. */
export function waitingOf(
  volume: VolumePlan,
  previous: Waiting | undefined,
  context: StatusContext,
): Waiting | undefined {
  const { problems, failure, phase } = volume;
  const [problem] = problems.has("") ? [problems.get("")] : problems.values();
  const what = problem ?? failure ?? (phase === "ungranted" ? notGranted : undefined);
  if (what === undefined) return undefined;
  const since = previous?.reason === what.reason ? previous.since : timestamp(context.now);
  const { on } = what;
  const retry = problem === undefined && failure !== undefined ? failure : undefined;
  return {
    reason: what.reason,
    message: cut(what.message, 1024),
    ...(on && { on: { kind: on.kind, name: cut(on.name, 512) } }),
    since,
    ...(retry && { attempts: retry.attempts }),
    ...(retry && { nextRetryTime: timestamp(retry.nextTime) }),
  };
}

const notGranted = {
  reason: "NotGranted",
  message: "the controller has not granted the volume yet",
  on: undefined,
} as const;

import type { NodeVolumeIntent } from "../api/types.gen.ts";
import { numberIn, recordIn, stringIn } from "../kube/json.ts";
import { eventsOf, type Facts, type Raw, timeOf } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { repeatedDriftStep } from "./next-steps.ts";
import { stepNamesOf } from "./step-names.ts";

/** How far back Events count, milliseconds. An API server keeps them as long by default (--event-ttl). */
const windowMs = 60 * 60_000;
/** How often the mounts drift within the window before somebody has to look: a single umount by hand is no pattern. */
const fewestTimes = 3;
/** More are not told apart: the count is a number that the node wrote, and a higher one changes nothing. */
const mostTimes = 1000;

/**
 * PURE. That the mounts of a managed volume drift again and again: the agent repairs each drift, and something on the
 * node undoes the repair. Nothing if it happened less than three times within an hour, or if `facts` has no Events.
 * Only the agent of the volume's node is believed: one of another node may write Events about any object, but only with
 * its own node as the source (config/policy/agents.yaml).
 */
export function repeatedDrift(facts: Facts, intent: NodeVolumeIntent): Finding[] {
  if (intent.spec.mode !== "Manage") return [];
  const events = eventsOf(facts, intent).filter((event) => isDriftOn(event, intent.spec.nodeName));
  const recent = events.filter((event) => timesWithin(event, facts.now) > 0);
  const all = recent.reduce((sum, event) => sum + timesWithin(event, facts.now), 0);
  const times = Math.min(all, mostTimes);
  const [last] = recent;
  if (last === undefined || times < fewestTimes) return [];
  const [since = timeOf(last)] = recent.map(firstTimeOf).sort();
  const message = (stringIn(last, "message") ?? "").replace(/^\(combined from similar events\): /, "");
  const names = stepNamesOf(intent);
  const path = intent.spec.mounts?.find((mount) => message.includes(mount.path))?.path;
  const repaired = intent.status?.drift === undefined ? ", each time repaired" : "";
  return [
    {
      state: "blocked",
      code: "DriftRepeats",
      text: `its mounts drifted ${all > times ? "more than " : ""}${times} times within an hour${repaired}; the last time ${message}`,
      since,
      also: true,
      todo: repeatedDriftStep(message, { ...names, path }),
    },
  ];
}

function isDriftOn(event: Raw, nodeName: string): boolean {
  return stringIn(event, "reason") === "Drifted" && stringIn(recordIn(event, "source"), "host") === nodeName;
}

/** How often it happened within the window; of an Event that began before it, as if it had happened evenly. */
function timesWithin(event: Raw, now: number): number {
  const count = numberIn(event, "count") ?? 1;
  const [first, last, from] = [Date.parse(firstTimeOf(event)), Date.parse(timeOf(event)), now - windowMs];
  if (!(last >= from)) return 0;
  if (!(first < from)) return count;
  return 1 + Math.floor(((count - 1) * (last - from)) / (last - first));
}

function firstTimeOf(event: Raw): string {
  return stringIn(event, "firstTimestamp") ?? timeOf(event);
}

import type { Registry } from "prom-client";
import { findCondition } from "../../api/conditions.ts";
import { isBlocked, isWaiting } from "../../api/reasons.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { sampledGauge } from "./sampled-gauge.ts";

/** Volumes of a node that have a time series of their own at most: those that have not been ready for longest. */
export const mostNotReady = 100;

/** A volume that is not ready, for the metric that alerts go by. */
export interface NotReady {
  readonly intent: string;
  readonly reason: string;
  /** Seconds since the epoch. */
  readonly since: number;
}

/**
 * PURE. The volumes that are not Ready, and since when, as their statuses show it; the longest first. One that is as
 * somebody wants it (suspended, only observed, released) is left out.
 */
export function notReadyOf(intents: Iterable<Pick<NodeVolumeIntent, "metadata" | "status">>): NotReady[] {
  const found: NotReady[] = [];
  for (const { metadata, status } of intents) {
    const ready = findCondition(status?.conditions, "Ready");
    if (ready === undefined || ready.status === "True") continue;
    const { reason, lastTransitionTime } = ready;
    if (!isBlocked(reason) && !isWaiting(reason)) continue;
    // The CRD's own default, before any agent has written, has the epoch.
    const times = [lastTransitionTime, metadata.creationTimestamp ?? lastTransitionTime].map((time) =>
      Date.parse(time),
    );
    found.push({ intent: metadata.name, reason, since: Math.max(...times) / 1000 });
  }
  return found.sort((a, b) => a.since - b.since).slice(0, mostNotReady);
}

/** A time series for each volume that is not ready, read from `intents` when somebody asks. */
export function registerNotReadyMetrics(
  registry: Registry,
  intents: () => Iterable<Pick<NodeVolumeIntent, "metadata" | "status">>,
): void {
  const metric = {
    name: "nodevolume_agent_volume_not_ready_since_timestamp_seconds",
    help: "Since when a volume has not been ready, by the reason of its condition.",
    labelNames: ["intent", "reason"],
  };
  sampledGauge(registry, metric, () =>
    notReadyOf(intents()).map(({ intent, reason, since }) => ({ labels: { intent, reason }, value: since })),
  );
}

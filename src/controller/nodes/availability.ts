import { findCondition } from "../../api/conditions.ts";
import { isBlocked, type Reason } from "../../api/reasons.ts";
import type { MountStatus } from "../../api/types.gen.ts";
import type { Availability, Trouble } from "../model/node-input.ts";
import type { Intent } from "../model/projections.ts";
import type { SetShare } from "../model/set-share.ts";
import type { IntentName } from "../model/volume-identity.ts";

/**
 * PURE. Whether the volumes of a set are available on one node, by the status of their intents.
 * @param shares what the set has on the node
 */
export function availabilityOf(shares: readonly SetShare[], intents: ReadonlyMap<IntentName, Intent>): Availability {
  const own = shares.flatMap((share) => {
    const intent = intents.get(share.intentName);
    return intent === undefined ? [] : [{ share, intent }];
  });
  const troubles = own.flatMap(({ share, intent }) => troubleOf(share, intent) ?? []);
  const trouble = troubles.find((t) => t.blocked) ?? troubles[0];
  const unknown = own.some(({ intent }) => !isLost(intent) && (!isObserved(intent) || isBlind(intent)));
  const unavailable = own.length === 0 || troubles.length > 0;
  return {
    state: unknown ? "unknown" : unavailable ? "unavailable" : "available",
    drifted: own.some(({ share, intent }) => isDrifted(share, intent)),
    ...(trouble && { trouble }),
  };
}

/** Whether the agent does not know what is mounted: it says so for as long as that lasts. */
function isBlind({ status }: Intent): boolean {
  return findCondition(status.conditions, "Ready")?.reason === ("MountTableUnreadable" satisfies Reason);
}

/** Whether the agent has read the spec as it is. */
export function isObserved({ metadata, status }: Intent): boolean {
  return status.observedUID === metadata.uid && status.observedGeneration === metadata.generation;
}

function troubleOf(share: SetShare, intent: Intent): Trouble | undefined {
  const ready = findCondition(intent.status.conditions, "Ready");
  const observed = isObserved(intent);
  if (observed && ready?.status === "True") return undefined;
  if (!observed && !isLost(intent)) {
    return { reason: "NotObserved", message: "the agent has not read the newest spec yet", blocked: false };
  }
  const reason = ready?.reason ?? "NotObserved";
  const whole = { reason, message: ready?.message ?? "", blocked: observed && isBlocked(reason) };
  if (!observed || ready?.status !== "False" || ofTheVolume.has(reason)) return whole;
  const { mine, others } = mountsOf(share, intent);
  const bad = mine.find((mount) => !isFine(mount));
  const elsewhere = others.filter((mount) => !isFine(mount));
  if (bad === undefined) return elsewhere.length > 0 ? undefined : whole;
  if (bad.reason !== undefined) {
    return { reason: bad.reason, message: bad.message ?? "", blocked: isBlocked(bad.reason) };
  }
  if (!elsewhere.some((mount) => mount.reason === reason)) return whole;
  return { reason: "Progressing", message: `${bad.path} is not mounted yet`, blocked: false };
}

/** Reasons of a volume as a whole: they concern every set that has a mount of it, whatever the mounts look like. */
const ofTheVolume: ReadonlySet<string> = new Set<Reason>([
  "Invalid",
  "NotGranted",
  "StaleRead",
  "MountTableUnreadable",
  "JournalFailed",
  "FilesystemReadOnly",
  "Suspended",
  "Unmounting",
  "Released",
  "Retained",
]);

/** The mounts of the intent's status: those of the part, as far as the agent names them, and those of other sets. */
function mountsOf(share: SetShare, { spec, status }: Intent): { mine: MountStatus[]; others: MountStatus[] } {
  const shown = status.mounts ?? [];
  const names = new Set(share.mounts.map((mount) => mount.name));
  const mine = share.mounts.map(({ name, path }): MountStatus => {
    const found = shown.find((mount) => mount.name === name && mount.path === path);
    return found ?? { name, path, state: "Absent" };
  });
  const wanted = new Set(spec.mounts.map((mount) => mount.name));
  return { mine, others: shown.filter((mount) => wanted.has(mount.name) && !names.has(mount.name)) };
}

function isFine({ state, reason, drift }: MountStatus): boolean {
  return state === "Mounted" && reason === undefined && drift === undefined;
}

function isLost({ status }: Intent): boolean {
  return status.agentState?.state === "Lost";
}

/** Drift of a set's own mounts; that of no mount at all is of the volume, and concerns each of its sets. */
function isDrifted(share: SetShare, intent: Intent): boolean {
  const { status } = intent;
  if (status.drift === undefined && findCondition(status.conditions, "Drifted")?.status !== "True") return false;
  const { mine, others } = mountsOf(share, intent);
  return mine.some((mount) => mount.drift !== undefined) || !others.some((mount) => mount.drift !== undefined);
}

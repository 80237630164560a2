import { findCondition } from "../api/conditions.ts";
import type { NodeVolumeIntent } from "../api/types.gen.ts";

/** One thing that is not as it is wanted. */
export interface Difference {
  readonly node: string;
  readonly volume: string;
  /** A path, or a pod with its volume; "" is the volume as a whole. */
  readonly target: string;
  readonly wanted: string;
  readonly actual: string;
  readonly reason: string;
  readonly message: string;
}

/** PURE. Where what is on the node differs from what is wanted there, of one volume. */
export function differencesOf({ metadata, spec, status = {} }: NodeVolumeIntent): Difference[] {
  const base = { node: spec.nodeName, volume: spec.volumeName };
  const why =
    status.waiting?.reason ??
    status.attach?.reason ??
    findCondition(status.conditions, "Ready")?.reason ??
    "NotObserved";
  const words = status.waiting?.message ?? status.attach?.message ?? "";
  const leaving = metadata.deletionTimestamp !== undefined;
  const found: Difference[] = [];
  const wantedPaths = new Set(leaving ? [] : spec.mounts.map(({ path }) => path));
  for (const mount of leaving ? [] : spec.mounts) {
    const actual = status.mounts?.find(({ path }) => path === mount.path);
    const shown = actual?.state ?? "Unknown";
    if (shown === "Mounted" && actual?.drift === undefined) continue;
    const reason = actual?.drift ?? actual?.reason ?? why;
    found.push({
      ...base,
      target: mount.path,
      wanted: "Mounted",
      actual: shown,
      reason,
      message: actual?.message ?? words,
    });
  }
  for (const { path, state, drift, reason, message } of status.mounts ?? []) {
    if (wantedPaths.has(path) || state === "Absent") continue;
    found.push({
      ...base,
      target: path,
      wanted: "Absent",
      actual: state,
      reason: drift ?? reason ?? why,
      message: message ?? words,
    });
  }
  for (const pod of leaving ? [] : (spec.pods ?? [])) {
    const actual = status.pods?.find(({ uid, volume }) => uid === pod.uid && volume === pod.volume);
    const shown = actual?.state ?? "Unknown";
    if (shown === "Mounted" && actual?.drift === undefined) continue;
    const target = `pod ${pod.namespace}/${pod.name}:${pod.volume}`;
    const reason = actual?.drift ?? actual?.reason ?? (shown === "Pending" ? "KubeletHasNotAsked" : why);
    found.push({ ...base, target, wanted: "Mounted", actual: shown, reason, message: actual?.message ?? words });
  }
  if (leaving && found.length === 0 && status.inUse !== false)
    found.push({
      ...base,
      target: "",
      wanted: "Released",
      actual: status.state ?? "Unknown",
      reason: why,
      message: words,
    });
  if (found.length === 0 && status.drift !== undefined)
    found.push({
      ...base,
      target: "",
      wanted: "as it was left",
      actual: status.state ?? "Unknown",
      reason: status.drift.class,
      message: status.drift.message,
    });
  return found;
}

import { type WokenBy, wakersOf } from "../../api/reasons.ts";
import { isBeneath, type MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { WatchedPath, WatchedProcess } from "../../host/ports/wakeups.ts";
import { isInvalid } from "../model/desired.ts";
import type { Failure } from "../model/failure.ts";
import type { MountPath } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { VolumePlan } from "../model/volume-plan.ts";

/** Something that tells that an attempt may succeed now. */
export type RetryTrigger =
  | { readonly kind: "path"; readonly place: WatchedPath }
  | { readonly kind: "process"; readonly process: WatchedProcess }
  | { readonly kind: "devices" }
  | { readonly kind: "room" };

/** Of several processes that hold a volume; when one has ended, the next attempt names the others. */
const mostProcesses = 4;

/** Where an operation failed, and how. */
export interface Waiter {
  /** Of the target; not given for the volume as a whole. */
  readonly path: MountPath | undefined;
  readonly failure: Failure;
  readonly volume: VolumePlan;
}

/** PURE. What to listen to for an operation that failed. Empty: only the backoff ends its wait. */
export function triggersFor(waiter: Waiter, settings: PlanSettings): readonly RetryTrigger[] {
  const by = wakersOf(waiter.failure.reason);
  return [
    ...(by.has("source") || by.has("written") ? sourcesOf(waiter.volume, by, settings) : []),
    ...(by.has("program") ? programOf(waiter, settings) : []),
    ...(by.has("target") ? targetsOf(waiter) : []),
    ...(by.has("process") ? processesOf(waiter) : []),
    ...(by.has("device") ? [{ kind: "devices" } as const] : []),
    ...(by.has("room") ? [{ kind: "room" } as const] : []),
  ];
}

/** PURE. Whether an operation that failed may wait for this mount to go, or for its coming. */
export function concerns({ path, failure, volume }: Waiter, mount: MountEntry): boolean {
  if (!wakersOf(failure.reason).has("mounts")) return false;
  const { record, mount: staged } = volume.actualState.stage;
  if (failure.on?.kind === "Device" && mount.source.startsWith("/dev/") && failure.on.name.endsWith(mount.source)) {
    return true; // the host's /dev may be elsewhere for the agent
  }
  const target = volume.record?.targets.find((each) => each.path === path);
  if ([record?.identity?.device, record?.deviceNumber, target?.identity.device].includes(mount.device)) return true;
  const paths = [path, failure.on?.kind === "Mount" ? failure.on.name : undefined, staged?.point];
  return paths.some((each) => each && (isBeneath(mount.point, each) || isBeneath(each, mount.point)));
}

/** PURE. Whether a volume is set up, or was, by the CSI driver of this name. */
export function isOfDriver({ desired, record }: Waiter["volume"], driver: string): boolean {
  const wanted = desired === undefined || isInvalid(desired) ? undefined : desired.layout.csi?.driver;
  return driver === wanted || driver === record?.stage?.csi?.driver;
}

/** PURE. Mounts that came, went or changed from one table to a later one. */
export function changedMounts(before: MountTable, after: MountTable): readonly MountEntry[] {
  const told = after.changesSince(before);
  if (told !== undefined) return told;
  const [old, young] = [before, after].map(({ entries }) => new Map(entries.map((entry) => [textOf(entry), entry])));
  const gone = [...(old ?? [])].filter(([text]) => young?.has(text) !== true);
  const come = [...(young ?? [])].filter(([text]) => old?.has(text) !== true);
  return [...gone, ...come].map(([, entry]) => entry);
}

function textOf({ id, parent, point, device, root }: MountEntry): string {
  return `${id} ${parent} ${device} ${point} ${root}`;
}

function sourcesOf({ desired }: VolumePlan, by: ReadonlySet<WokenBy>, { hostRoot }: PlanSettings): RetryTrigger[] {
  if (desired === undefined || isInvalid(desired) || desired.layout.hostPath === undefined) return [];
  const place = { root: hostRoot, path: desired.layout.hostPath, links: "follow" } as const;
  return [{ kind: "path", place: by.has("written") ? { ...place, written: true } : place }];
}

/** By what has failed: a release needs the program too, when no spec names it any more. */
function programOf({ failure: { on } }: Waiter, { hostRoot }: PlanSettings): RetryTrigger[] {
  if (on?.kind !== "Program") return [];
  return [{ kind: "path", place: { root: hostRoot, path: on.name, links: "follow", written: true } }];
}

function targetsOf({ path }: Waiter): RetryTrigger[] {
  return path === undefined ? [] : [{ kind: "path", place: { root: "/", path, links: "refuse" } }];
}

function processesOf({ failure, volume }: Waiter): RetryTrigger[] {
  const child = volume.record?.child;
  const holders = (failure.heldBy ?? []).slice(0, mostProcesses).map((pid) => ({ pid }));
  const processes: WatchedProcess[] = child === undefined ? holders : [child, ...holders];
  return processes.map((process) => ({ kind: "process", process }));
}

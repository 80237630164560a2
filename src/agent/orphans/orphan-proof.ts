import { isBeneath, type MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { Holder } from "../../host/ports/evidence.ts";
import { names } from "../executor/holders/mount-holders.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import type { Leftover } from "./kubelet-orphans.ts";
import type { NodePod } from "./node-pods.ts";
import { type ReapPlace, reapPlace } from "./reap-place.ts";

/** Everything that is known right before something is removed. What is undefined could not be known. */
export interface ReapWorld {
  readonly kubeletDir: string;
  /** Milliseconds for which kubelet has been alive without a pause; or why it is not known to be. */
  readonly alive: number | string;
  readonly graceMs: number;
  /** Every pod that the API server has on the node. */
  readonly pods: readonly NodePod[];
  /** UIDs of the pods that have a cgroup. */
  readonly cgroups: ReadonlySet<string> | undefined;
  /** Of the node, and of the agent where it acts. */
  readonly table: MountTable;
  readonly own: MountTable;
  readonly volumes: Iterable<VolumePlan>;
  /** Evidence about a staged volume: reports of kubelet and the driver, and the mount namespaces that show it. */
  readonly staged?: StagedEvidence;
}

/** Evidence about a volume that kubelet staged by CSI and left behind. */
export interface StagedEvidence {
  /** What kubelet has written down is of this driver and of a handle with this hash. */
  readonly isKnown: boolean;
  readonly isRegistered: boolean;
  readonly unstages: boolean;
  readonly apart: readonly Holder[];
}

/** Whether a leftover may be removed: everything that is needed for it is proved, or it stays. */
export type OrphanProof =
  | { readonly place: ReapPlace; readonly mount: MountEntry; readonly proof: string }
  /** Why it stays, for people. */
  | { readonly kept: string };

/** PURE. Why an orphan is never removed, whatever is known of it; undefined: it may be. */
export function neverReaped({ kind, reason, path }: Leftover, kubeletDir: string): string | undefined {
  if (reason === "TargetBusy") return "kubelet is at it itself";
  if (kind === "LoopDevice") return "nothing proves whose loop device it is";
  if (reason !== "LeftByKubelet") return "it is the agent's own, which nothing but its set takes down";
  if (reapPlace(kubeletDir, path)?.kind !== kind)
    return "by its path it is not a volume that the API server's pods have, or not one of a file system";
  return undefined;
}

/**
 * PURE. Whether it is proved that nobody has what an orphan shows, and that kubelet does not come back to it. The
 * caller has found the orphan in the same table once more (kubelet-orphans.ts): no intent names it, and no pod's cgroup
 * or mount has it.
 */
export function orphanProof(orphan: Leftover, world: ReapWorld): OrphanProof {
  const never = neverReaped(orphan, world.kubeletDir);
  const place = reapPlace(world.kubeletDir, orphan.path);
  if (never !== undefined || place === undefined) return { kept: never ?? "" };
  const mount = world.table.at(orphan.path);
  if (mount?.id !== orphan.mountID || mount?.uniqueID !== orphan.uniqueID || mount === undefined)
    return { kept: "another mount is there, or covers it" };
  const why = ofKubelet(world) ?? ofMount(mount, place, world) ?? ofPlace(mount, place, world);
  if (why !== undefined) return { kept: why };
  const proof =
    place.kind === "PodMount"
      ? `the API server has no pod ${place.uid} on this node, and it has no cgroup`
      : "no pod of the node has it or waits for a claim that it could be, and no mount namespace shows it";
  return { place, mount, proof };
}

/** PURE. Why something may still be kubelet's to remove: it does so when it is back, and needs its time. */
export function leftToKubelet(alive: number | string, graceMs: number): string | undefined {
  if (typeof alive === "string") return alive;
  return alive < graceMs ? "kubelet has not been alive for the whole grace period" : undefined;
}

function ofKubelet({ alive, graceMs, pods, cgroups }: ReapWorld): string | undefined {
  const kubelets = leftToKubelet(alive, graceMs);
  if (kubelets !== undefined) return kubelets;
  if (cgroups === undefined) return "no cgroup of any pod is seen on the node";
  const unseen = pods.find(({ uid, phase, mirrorOf }) => phase === "Running" && !cgroups.has(mirrorOf ?? uid));
  if (unseen !== undefined) return `pod ${unseen.name} runs, and its cgroup is not seen: others may be missed, too`;
  return undefined;
}

function ofMount(mount: MountEntry, place: ReapPlace, { table, own, kubeletDir }: ReapWorld): string | undefined {
  if (table.layers(mount.point).length > 1) return "another mount lies over it or beneath it";
  const [child] = table.childrenOf(mount.id);
  if (child !== undefined) return `${child.point} is mounted beneath it`;
  const above = place.kind === "Staging" ? place.directory : mount.point.slice(0, mount.point.lastIndexOf("/"));
  const base = [kubeletDir, place.prefix].map((path) => table.covering(path)?.id);
  if (!base.includes(table.covering(above)?.id)) return "something else is mounted on the way to it";
  if (place.kind === "Staging") return undefined; // its driver unmounts it
  const ours = own.at(mount.point);
  const same = ours?.device === mount.device && ours.root === mount.root && ours.fsType === mount.fsType;
  const reached = same && own.layers(mount.point).length === 1 && (own === table || isPeer(ours, mount));
  return reached
    ? undefined
    : "the agent does not see it as the node does: an unmount here would not take it down there";
}

/** Peer groups have the same number in every mount namespace. */
function isPeer(a: MountEntry, b: MountEntry): boolean {
  return a.shared !== undefined && a.shared === b.shared;
}

function ofPlace(mount: MountEntry, place: ReapPlace, world: ReapWorld): string | undefined {
  return place.kind === "PodMount" ? ofPod(place.uid, world) : ofStaged(mount, world);
}

function ofPod(uid: string, { pods, cgroups }: ReapWorld): string | undefined {
  const pod = pods.find((one) => one.uid === uid || one.mirrorOf === uid);
  if (pod !== undefined) return `the API server has the pod: ${pod.name}, ${pod.phase}`;
  return cgroups?.has(uid) === true ? "the pod has a cgroup" : undefined;
}

function ofStaged(mount: MountEntry, { pods, table, volumes, staged }: ReapWorld): string | undefined {
  const other = table.ofDevice(mount.device).find(({ id, root }) => id !== mount.id && isBeneath(root, mount.root));
  if (other !== undefined) return `it is mounted at ${other.point} as well`;
  const known = claimsKnown(volumes);
  for (const { uid, name, phase, claims } of pods) {
    // A pod that runs has all its volumes, and those have a mount; one that has ended gets no more.
    if (["Running", "Succeeded", "Failed"].includes(phase)) continue;
    const unknown = claims.find((volume) => !known.has(`${uid}~${volume}`));
    if (unknown !== undefined) return `pod ${name} waits for a claim (volume ${unknown}) that it could be`;
  }
  if (staged === undefined || !staged.isKnown) return "kubelet's vol_data.json next to it does not name the volume";
  if (!staged.isRegistered) return "its driver is not registered on the node: kubelet may be waiting for it, too";
  if (!staged.unstages) return "its driver has no NodeUnstageVolume";
  return staged.apart.length === 0 ? undefined : `it is mounted in another mount namespace: ${names(staged.apart)}`;
}

/** Volumes of pods of which an intent says which one it is: where kubelet stages these is known, and is no orphan. */
function claimsKnown(volumes: Iterable<VolumePlan>): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { desired } of volumes) {
    const kubelet = desired !== undefined && "kubelet" in desired ? desired.kubelet : undefined;
    if (kubelet === undefined) continue;
    const { volumeName, driver, volumeHandle } = kubelet.observed;
    if (volumeName === "" || driver === undefined || volumeHandle === undefined) continue;
    for (const { uid, volume } of kubelet.pods) known.add(`${uid}~${volume}`);
  }
  return known;
}

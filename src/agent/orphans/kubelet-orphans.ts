import { cut } from "../../api/conditions.ts";
import type { Orphan } from "../../api/types.gen.ts";
import { shellWord } from "../../api/values/printable.ts";
import { isBeneath, type MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { StaleLoop } from "../../host/ports/evidence.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { shownBy, unmounting } from "../status/orphans.ts";

/** What kubelet, or a driver that it has called, has left on the node; without since when. */
export interface Leftover extends Omit<Orphan, "since"> {
  /** Of its mount, where the kernel has such ids: `mountID` is used again. */
  readonly uniqueID?: number | undefined;
}

/** Inputs of the search for kubelet's leftovers: mounts of pods that are gone, and loop devices without a pod. */
export interface LeftoversInput {
  readonly table: MountTable;
  readonly kubeletDir: string;
  readonly volumes: Iterable<VolumePlan>;
  /** UIDs of the pods that have a cgroup; undefined: none can be seen, so that no pod is known to be gone. */
  readonly pods: ReadonlySet<string> | undefined;
  readonly loops: readonly StaleLoop[];
}

const longest = 512;
const longestPath = 1024;
const reason = "LeftByKubelet";

/**
 * PURE. Mounts of pods that are gone, volumes that are staged and nobody has (behaviour 45: kubelet never finds them),
 * and loop devices whose file was removed. Only reported: what is here now may be on its way out, so it counts once it
 * has lasted.
 */
export function leftovers({ table, kubeletDir, volumes, pods, loops }: LeftoversInput): Leftover[] {
  const { uids, points } = knownTo(volumes);
  const ofKubelet = table.beneath(kubeletDir).filter(({ point }) => !points.has(point));
  const podMounts = ofKubelet.flatMap((mount) => {
    const uid = uidIn(kubeletDir, mount.point);
    return uid === undefined ? [] : [{ mount, uid }];
  });
  const ofPods =
    pods === undefined ? [] : podMounts.filter(({ uid }) => !pods.has(uid) && !uids.has(uid)).map(ofDeadPod);
  const used = new Set(podMounts.map(({ mount }) => mount.device));
  const staged = ofKubelet.filter(({ point, device }) => isStaged(kubeletDir, point) && !used.has(device));
  return [...ofPods, ...staged.map(stagedForNobody), ...loops.flatMap((loop) => ofLoop(loop, table))];
}

/** Leftovers of an intent are reported in its status: those of its listed pods, and its targets. */
function knownTo(volumes: Iterable<VolumePlan>): { uids: Set<string>; points: Set<string> } {
  const uids = new Set<string>();
  const points = new Set<string>();
  for (const { actualState, record } of volumes) {
    for (const { pod } of actualState.kubelet?.pods ?? []) uids.add(pod.uid);
    if (actualState.kubelet !== undefined && actualState.kubelet.pods.length > 0)
      for (const point of actualState.kubelet.points) points.add(point);
    for (const { path } of actualState.targets) points.add(path);
    for (const { path } of record?.targets ?? []) points.add(path);
  }
  return { uids, points };
}

/** Of which pod something is mounted there. */
function uidIn(kubeletDir: string, point: string): string | undefined {
  if (isBeneath(point, `${kubeletDir}/pods`)) return point.slice(kubeletDir.length + "/pods/".length).split("/")[0];
  const devices = `${kubeletDir}/plugins/kubernetes.io/csi/volumeDevices/`;
  if (!point.startsWith(devices)) return undefined;
  const [first = "", second, third] = point.slice(devices.length).split("/");
  return first === "publish" || second === "dev" ? third : undefined;
}

/** plugins/kubernetes.io/csi/DRIVER/HASH/globalmount, pv/PV before 1.24; volumeDevices/staging/PV for block. */
function isStaged(kubeletDir: string, point: string): boolean {
  const root = `${kubeletDir}/plugins/kubernetes.io/csi/`;
  if (!point.startsWith(root)) return false;
  const parts = point.slice(root.length).split("/");
  return parts.length === 3 && (parts[2] === "globalmount" || (parts[0] === "volumeDevices" && parts[1] === "staging"));
}

function ofDeadPod({ mount, uid }: { readonly mount: MountEntry; readonly uid: string }): Leftover {
  return {
    ...shown(mount),
    kind: "PodMount",
    message: cut(
      `pod ${uid} has no cgroup on this node, so none of its processes runs, and no intent names it`,
      longest,
    ),
    remedy: cut(`${unmounting(mount.point)}; kubelet removes its empty directory then`, longest),
  };
}

function stagedForNobody(mount: MountEntry): Leftover {
  return {
    ...shown(mount),
    kind: "Staging",
    message:
      "a CSI driver has staged it for kubelet, and no pod of the node has it: after a crash kubelet never finds it",
    remedy: cut(
      `make sure that no container has it (findmnt --task), then ${unmounting(mount.point)}: its driver is not notified (NodeUnstageVolume); a pod with the volume on this node and its end do the same`,
      longest,
    ),
  };
}

/** One that is mounted is in use, whatever became of its file. */
function ofLoop({ path, backing, deviceNumber }: StaleLoop, table: MountTable): Leftover[] {
  if (table.ofDevice(deviceNumber).length > 0) return [];
  const word = shellWord(path) ?? path;
  return [
    {
      path: cut(path, longestPath),
      kind: "LoopDevice",
      reason,
      source: cut(backing, longest),
      message: "its file was removed, and it is not mounted on the node: the space of the file is not free yet",
      remedy: `losetup -d ${word}, once nobody has it open (fuser ${word})`,
    },
  ];
}

/** PURE. What is mounted there, for people. */
export function shown(mount: MountEntry): Pick<Leftover, "path" | "reason" | "mountID" | "uniqueID" | "source"> {
  const unique = mount.uniqueID === undefined ? {} : { uniqueID: mount.uniqueID };
  return { path: cut(mount.point, longestPath), reason, ...shownBy(mount), ...unique };
}

/** PURE. By it one is told from the next: another mount on the same path is another. */
export function leftoverKey({ kind, path, mountID, uniqueID, source }: Leftover): string {
  return [kind, path, mountID, uniqueID, source].join(" ");
}

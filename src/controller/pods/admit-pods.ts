import type { IntentPod, NodeVolumeSetSpec } from "../../api/types.gen.ts";
import { lacksGroup } from "../../kube/objects/pod-groups.ts";
import type { NodeInput, NodePods } from "../model/node-input.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { type PodVolume, setOf } from "../model/pod-volume.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import type { SetShare } from "../model/set-share.ts";
import type { IntentName } from "../model/volume-identity.ts";
import { compareText } from "../util/canonical-json.ts";
import type { AdmittedPods, AdmittedVolume, Candidate, Rejection, RejectionReason, Target } from "./admitted-pods.ts";
import { compatiblePods } from "./compatible-pods.ts";
import { dedupeByUID } from "./dedupe-by-uid.ts";
import { labelConflicts } from "./selinux-conflicts.ts";
import { isRefused, targetOf } from "./target-of.ts";

/**
 * Which pods of one node use which intent. Pure.
 *
 * ```
 *  pod ─► volume of ours that a container mounts ─► set, if it allows the namespace ─┐
 *                                              └──► claim of the pod's own namespace ┴─► intent ─► fits ─► spec.pods
 * ```
 * What an intent has a pod for stays there while the pod is there and may use it, wherever the set's mounts have gone
 * since: kubelet asks for a volume once. Deleting pods keep what they have and get nothing new.
 * @param live the intents of the node that are not being deleted
 * @param chosen what each set is in with on the node
 */
export function admitPods(
  input: NodeInput & { readonly pods: NodePods },
  live: ReadonlyMap<IntentName, Intent>,
  chosen: ReadonlyMap<string, readonly SetShare[]>,
): AdmittedPods {
  const found = foundPods(live.values());
  const rejections: Rejection[] = [];
  const candidates: Candidate[] = [];
  const context = { input, live, chosen, sets: new Map(input.sets.map((set) => [set.metadata.name, set])) };
  const firsts = new Map<IntentName, Target>();
  for (const { pod, volume } of volumesOf(input.pods.entries)) {
    const at = found.get(keyOf(entryOf(pod, volume.name, volume.request)));
    if (at === undefined && pod.deleting) continue;
    const target = targetOf(context, firsts, pod, volume, at);
    if (target === undefined) continue;
    if (isRefused(target)) {
      rejections.push(refusal(pod, volume.name, target));
      continue;
    }
    if (!firsts.has(target.intentName)) firsts.set(target.intentName, target);
    candidates.push({
      pod,
      volume: volume.name,
      set: setOf(volume),
      entry: { ...entryOf(pod, volume.name, volume.request), ...sharedWith(context.sets, volume, { pod, at }) },
      target,
      label: labelIn(pod, volume.name),
      found: at !== undefined,
    });
  }
  const notices: Rejection[] = [];
  const volumes = new Map<IntentName, AdmittedVolume>();
  for (const [name, all] of Map.groupBy(candidates, ({ target }) => target.intentName)) {
    const { taken, refused } = compatiblePods(all, { intent: live.get(name), isForOnePod: input.pods.isForOnePod });
    rejections.push(...refused.map(({ candidate: { pod, volume }, ...why }) => refusal(pod, volume, why)));
    notices.push(...taken.flatMap((candidate) => groupNotice(candidate, input.pods) ?? []));
    notices.push(...labelConflicts(taken).map(({ candidate, why }) => refusal(candidate.pod, candidate.volume, why)));
    const [first] = taken;
    if (first === undefined) continue;
    volumes.set(name, {
      identity: first.target.identity,
      settings: (firsts.get(name) ?? first.target).settings,
      sets: new Set(taken.flatMap(({ set }) => set ?? [])),
      pods: taken.map(withGroup).sort(byKey),
    });
  }
  return { volumes, rejections, notices };
}

/** kubelet gives such a group to pods whose volume it mounts itself (behaviour 28); a driver cannot. */
function groupNotice({ pod, volume, target }: Candidate, { groupOf }: NodePods): Rejection | undefined {
  const asked = groupOf(target.source);
  if (asked === undefined || pod.groups?.includes(asked.gid) === true) return undefined;
  return refusal(pod, volume, { reason: "PodLacksGroup", message: lacksGroup(asked.persistentVolume, asked.gid) });
}

/** By pod and volume, the intent that has it. */
function foundPods(intents: Iterable<Intent>): Map<string, Intent> {
  const found = new Map<string, Intent>();
  for (const intent of intents) {
    if (intent.spec.observed !== undefined) continue;
    for (const entry of intent.spec.pods ?? []) found.set(keyOf(entry), intent);
  }
  return found;
}

/** Where the set is not there any more, or not understood, nothing changes for a pod that has its volume. */
function sharedWith(
  sets: ReadonlyMap<string, SetEntry>,
  volume: PodVolume,
  { pod, at }: { readonly pod: PodEntry; readonly at: Intent | undefined },
): Partial<SharedAs> {
  const { request } = volume;
  const set = setOf(volume);
  if (set === undefined || "field" in request) return {};
  const spec = sets.get(set)?.spec;
  const had = at?.spec.pods?.find((entry) => entry.uid === pod.uid && entry.volume === volume.name);
  if (spec === undefined) return had === undefined ? { readOnly: true } : sharedOf(had);
  const { readOnly, ...more } = sharedAs(spec);
  return { readOnly: request.readOnly || readOnly, ...more };
}

function sharedOf({ readOnly = false, noexec }: IntentPod): SharedAs {
  return { readOnly, ...(noexec !== undefined && { noexec }) };
}

function volumesOf(entries: Iterable<PodEntry>) {
  return dedupeByUID(entries).flatMap((pod) => pod.volumes.map((volume) => ({ pod, volume })));
}

function entryOf(pod: PodEntry, volume: string, request: PodEntry["volumes"][number]["request"]): Candidate["entry"] {
  const { namespace = "", name } = pod.metadata;
  const { readOnly = true, subPath } = "wants" in request ? request : {};
  return { uid: pod.uid, namespace, name, volume, readOnly, ...(subPath !== undefined && { subPath }) };
}

/**
 * Only claims of its own namespace are given to a pod's group: what a set shares with others is not for one of them to
 * take (safety rule 18).
 */
function withGroup({ pod, entry, target }: Candidate): IntentPod {
  const isOwn = target.source.persistentVolumeClaim?.namespace === pod.metadata.namespace;
  return isOwn ? { ...entry, ...pod.group } : entry;
}

function labelIn({ labels = {} }: PodEntry, volume: string): Candidate["label"] {
  const label = labels[volume];
  return label === undefined ? "" : label;
}

function byKey(a: IntentPod, b: IntentPod): number {
  return compareText(a.uid, b.uid) || compareText(a.volume, b.volume);
}

/** Not by the UID alone: a mirror may say that it has that of a pod which has gone, or is still to come. */
function keyOf({ uid, namespace, name, volume }: Candidate["entry"]): string {
  return `${uid}/${namespace}/${name}/${volume}`;
}

function refusal(pod: PodEntry, volume: string, { reason, message }: RejectionReason): Rejection {
  return { pod, volume, reason, message };
}

/** What holds for the bind of a pod, whatever the pod asks for. */
export type SharedAs = Required<Pick<IntentPod, "readOnly">> & Pick<IntentPod, "noexec">;

/**
 * PURE. How pods get the volume of a set. What is on the node's own file system, and what the set itself only reads, is
 * not theirs to write unless the set says so.
 */
export function sharedAs({ allowedNamespaces, mounts, volume }: NodeVolumeSetSpec): SharedAs {
  const isReadAlone = mounts.length > 0 && mounts.every((mount) => mount.readOnly === true);
  const readOnly = allowedNamespaces?.readOnly ?? (isOfNode(volume) || isReadAlone);
  const noexec = mounts.length > 0 && mounts.every(({ mountOptions = [] }) => mountOptions.includes("noexec"));
  return { readOnly, ...(noexec && { noexec }) };
}

/** Directories, with files of the node's programs. */
const noDevices = /^\/dev\/(shm|mqueue|hugepages)(\/|$)/;

/**
 * A directory of the node: of `local.path` whatever is not said to be a device, by its name, its file system, or its
 * encryption.
 */
function isOfNode({ source: { hostPath, local }, fsType }: NodeVolumeSetSpec["volume"]): boolean {
  if (hostPath !== undefined) return true;
  if (local?.path === undefined || fsType !== undefined || local.encryption !== undefined) return false;
  return !local.path.startsWith("/dev/") || noDevices.test(local.path);
}

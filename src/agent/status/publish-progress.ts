import { label, setLabelPrefix } from "../../api/names.ts";
import type { IntentPod, NodeVolumeIntent } from "../../api/types.gen.ts";
import type { PodPublish } from "../../csi/server/ports.ts";
import type { IntentEntry } from "../desired/intents.ts";
import { isInSync, type Problem } from "../model/actual-volume.ts";
import { isInvalid } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { obstacleOf, summaryOf } from "./volume-summary.ts";

/** How far a pod's volume is. */
export type Progress =
  | { readonly kind: "done" }
  /** No intent lets the pod have it yet. */
  | { readonly kind: "unlisted"; readonly why: Problem }
  /** It cannot come about as things are. */
  | { readonly kind: "refused"; readonly why: Problem }
  | { readonly kind: "waiting"; readonly why: Problem };

/**
 * PURE. How far what kubelet has asked for is, by the intent that names the pod and by its plan.
 * @param volume undefined if it was not planned yet
 */
export function progressOf(
  request: PodPublish,
  { raw: intent, desired }: Pick<IntentEntry, "raw" | "desired">,
  volume: VolumePlan | undefined,
): Progress {
  const entry = intent.spec.pods?.find(({ uid, volume: name }) => uid === request.podUID && name === request.volume);
  if (entry === undefined) return { kind: "unlisted", why: notListed(request) };
  const differs = differenceOf(request, entry, intent);
  if (differs !== undefined) return { kind: "refused", why: { reason: "PodMismatch", message: differs } };
  const isRead = entry.readOnly === true || (!isInvalid(desired) && desired.layout.readOnly);
  if (isRead && !request.containersRead) return { kind: "refused", why: writtenByContainers(request) };
  if (intent.spec.volumeMode === "Block") return { kind: "refused", why: blockForPods };
  if (intent.spec.mode === "Observe") return { kind: "unlisted", why: notListed(request) };
  const target = volume?.actualState.targets.find(({ path }) => path === request.path);
  if (volume === undefined || target?.desired?.pod === undefined) return { kind: "waiting", why: begun };
  if (isInSync(target) && target.record?.pod !== undefined) return { kind: "done" };
  return { kind: "waiting", why: whyOf(volume, target.path) };
}

/** PURE. The problem of one target: its own, or that of its volume. */
function whyOf(volume: VolumePlan, path: MountPath): Problem {
  const target = volume.actualState.targets.find((one) => one.path === path);
  const own = volume.problems.targets.get(path) ?? target?.problem;
  if (own !== undefined) return own;
  // What hinders another target alone is no answer.
  const elsewhere = volume.problems.targets.size > 0;
  const obstacle =
    volume.problems.volume ?? (elsewhere ? (volume.stuckOperation ?? volume.failure) : obstacleOf(volume));
  if (obstacle !== undefined) return { reason: obstacle.reason, message: obstacle.message };
  const { reason, message } = elsewhere ? begun : summaryOf(volume);
  return { reason, message };
}

/** PURE. The problem of a publish for a pod that no intent of this node names. */
export function notListed({ namespace, podName, wants }: PodPublish): Problem {
  const what = "set" in wants ? `set ${wants.set}` : `claim ${namespace}/${wants.persistentVolumeClaim}`;
  const message = `pod ${namespace}/${podName} is not in any NodeVolumeIntent of this node for ${what} yet; if access was denied, see the pod's Events`;
  return { reason: "PodNotListed", message };
}

/** In which field the entry of a pod says something else than kubelet; undefined if in none. */
function differenceOf(request: PodPublish, entry: IntentPod, intent: NodeVolumeIntent): string | undefined {
  const { namespace, podName, readOnly, subPath = "" } = request;
  const pairs = [
    ["namespace", namespace, entry.namespace],
    ["name", podName, entry.name],
    // A set may share read-only what a pod asks to write.
    ["readOnly", `${readOnly}`, `${readOnly && entry.readOnly === true}`],
    ["subPath", subPath, entry.subPath ?? ""],
  ] as const;
  const [first] = pairs.filter(([, asked, listed]) => asked !== listed);
  const whose = `the intent ${intent.metadata.name}`;
  if (first !== undefined) return `${first[0]}: kubelet has ${quote(first[1])}, ${whose} ${quote(first[2])}`;
  return isOf(request, intent) ? undefined : `${whose} is not of what the pod names in its volumeAttributes`;
}

function isOf({ namespace, wants }: PodPublish, { metadata, spec }: NodeVolumeIntent): boolean {
  if ("set" in wants) {
    const { labels = {} } = metadata;
    const asks = spec.mounts.some(
      ({ requester }) => requester.kind === "NodeVolumeSet" && requester.name === wants.set,
    );
    return asks || labels[label.set] === wants.set || `${setLabelPrefix}${wants.set}` in labels;
  }
  const claim = spec.source.persistentVolumeClaim;
  return claim?.namespace === namespace && claim.claimName === wants.persistentVolumeClaim;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/**
 * runc, from 1.2 on, mounts what is not said to be read-only for writing, whatever the mount is that it was given: only
 * kubelet keeps a container from that.
 */
function writtenByContainers({ volume }: PodPublish): Problem {
  const message = `the volume is read-only, and a container runtime enforces that only if the pod specifies it, too: write readOnly: true in csi: of its volume ${volume}, next to volumeAttributes`;
  return { reason: "AccessModeMismatch", message };
}

/** The problem of a publish whose volume is being set up, with nothing in its way. */
export const begun: Problem = { reason: "Progressing", message: "the volume is being set up on this node" };
const blockForPods: Problem = {
  reason: "BlockForPods",
  message: "the volume has volumeMode: Block: only directories and files are put into pods, name another volume",
};

import type { KubeObject } from "../../api/meta.ts";
import { gate, readiness } from "../../api/names.ts";
import type { IntentPod } from "../../api/types.gen.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../../kube/json.ts";
import { podGroups } from "../../kube/objects/pod-groups.ts";
import { type FileLabel, labelOf } from "./file-label.ts";
import { type PodVolume, podVolume } from "./pod-volume.ts";
import { conditionIn, type ShownCondition } from "./projections.ts";

/** What the controller keeps of Pods and Namespaces: what it decides by, and nothing else. Pure. */

/**
 * A pod that uses a volume of ours, names a claim, or waits at a gate of ours; others are not kept. Its metadata has
 * name, namespace, UID and version.
 */
export interface PodEntry extends KubeObject {
  /**
   * As kubelet has it: of a mirror pod that of the static pod, which whoever made the mirror could have chosen
   * (behaviour 3).
   */
  readonly uid: string;
  readonly isMirror: boolean;
  /** "" until it is scheduled. */
  readonly nodeName: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly deleting: boolean;
  /** The pod's group for its volumes, and how their files are brought to it. */
  readonly group: Pick<IntentPod, "fsGroup" | "fsGroupChangePolicy"> | undefined;
  /** The groups that all its processes are in; of a pod with volumes of ours, if it has any. */
  readonly groups?: readonly number[];
  /** SELinux labels of its files by name of the volume, where its containers say any; null: they differ in it. */
  readonly labels?: { readonly [volume: string]: FileLabel | null };
  /** Volumes of the driver csi.nodevolume.dev that a container mounts. */
  readonly volumes: readonly PodVolume[];
  /** Claims that a container uses through kubelet. */
  readonly claims: readonly PodClaim[];
  /** Scheduling gates of ours, if it has any. */
  readonly gates?: readonly string[];
  /** Its condition VolumesReady, if it has one. */
  readonly volumesReady?: ShownCondition;
}

/** A claim that a pod names itself, and so leaves to kubelet. */
interface PodClaim {
  /** Name of the volume in the pod. */
  readonly volume: string;
  /** Of a generic ephemeral volume, that of the pod and the volume's. */
  readonly claimName: string;
  readonly readOnly: boolean;
  readonly ephemeral: boolean;
  /** A container has it as a device. */
  readonly device: boolean;
}

const mirrorOf = "kubernetes.io/config.mirror";
const staticUID = "kubernetes.io/config.hash";
/** As in the schema of intents: another in spec.pods would have the whole intent refused. */
const uidPattern = /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,62}[A-Za-z0-9])?$/;

/** Of one pod, and as many claims: each is an intent, and a pod could name ten thousand. */
const mostVolumes = 64;
const tooMany: PodVolume["request"] = {
  field: "csi",
  message: `exceeds the limit of ${mostVolumes} node volumes per pod`,
};

/** @returns undefined for a pod that has ended, or uses nothing that is looked after here */
export function projectPod(raw: unknown): PodEntry | undefined {
  const metadata = recordIn(raw, "metadata");
  const spec = recordIn(raw, "spec");
  const phase = stringIn(recordIn(raw, "status"), "phase");
  const volumes = arrayIn(spec, "volumes");
  const [name, namespace] = [stringIn(metadata, "name"), stringIn(metadata, "namespace")];
  const gates = gatesIn(spec);
  if (volumes.length + gates.length === 0 || name === undefined || namespace === undefined) return undefined;
  if (phase === "Succeeded" || phase === "Failed") return undefined;

  const used = usedIn(spec);
  const ours: PodVolume[] = [];
  const claims: PodClaim[] = [];
  for (const volume of volumes) {
    const use = used.get(stringIn(volume, "name") ?? "");
    if (use === undefined) continue; // what no container uses kubelet never mounts (behaviour 25)
    const own = podVolume(volume);
    if (own !== undefined && ours.length < mostVolumes) ours.push(own);
    else if (own !== undefined && ours.length === mostVolumes) ours.push({ name: own.name, request: tooMany });
    const claim = claimIn(volume, name, use);
    if (claim !== undefined && claims.length < mostVolumes) claims.push(claim);
  }
  if (ours.length + claims.length + gates.length === 0) return undefined;

  const annotations = recordIn(metadata, "annotations");
  const mirrored = stringIn(annotations, mirrorOf);
  const ownUID = stringIn(metadata, "uid") ?? "";
  const uid = mirrored === undefined ? ownUID : (stringIn(annotations, staticUID) ?? mirrored);
  if (!uidPattern.test(uid)) return undefined;
  const volumesReady = conditionIn(raw, readiness.podCondition);
  return {
    metadata: { name, namespace, uid: ownUID, resourceVersion: stringIn(metadata, "resourceVersion") ?? "" },
    uid: uid === ownUID ? ownUID : uid,
    isMirror: mirrored !== undefined,
    nodeName: stringIn(spec, "nodeName") ?? "",
    created: Math.floor(Date.parse(stringIn(metadata, "creationTimestamp") ?? "") / 1000) || 0,
    deleting: stringIn(metadata, "deletionTimestamp") !== undefined,
    group: groupIn(spec),
    volumes: ours,
    claims,
    ...(ours.length > 0 && { ...groupsIn(spec), ...labelsIn(ours, used) }),
    ...(gates.length > 0 && { gates }),
    ...(ours.length > 0 && volumesReady && { volumesReady }),
  };
}

function gatesIn(spec: unknown): string[] {
  const names = arrayIn(spec, "schedulingGates").map((one) => stringIn(one, "name") ?? "");
  return names.filter((name) => name.startsWith(gate.prefix));
}

type Use = { device: boolean; labels: Set<FileLabel> };

/** Names of the volumes that any container uses, and how. */
function usedIn(spec: unknown): Map<string, Use> {
  const used = new Map<string, Use>();
  for (const kind of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of arrayIn(spec, kind)) {
      const label = labelOf(spec, container);
      for (const [list, device] of [
        ["volumeMounts", false],
        ["volumeDevices", true],
      ] as const) {
        for (const one of arrayIn(container, list)) {
          const name = stringIn(one, "name") ?? "";
          const use = used.get(name) ?? { device: false, labels: new Set() };
          used.set(name, { device: use.device || device, labels: use.labels.add(label) });
        }
      }
    }
  }
  return used;
}

function labelsIn(volumes: readonly PodVolume[], used: ReadonlyMap<string, Use>): Pick<PodEntry, "labels"> {
  const said = volumes.flatMap(({ name }) => {
    const [label = "", ...others] = used.get(name)?.labels ?? [];
    return others.length > 0 ? [[name, null]] : label === "" ? [] : [[name, label]];
  });
  return said.length > 0 ? { labels: Object.fromEntries(said) } : {};
}

function claimIn(volume: unknown, podName: string, { device }: Use): PodClaim | undefined {
  const name = stringIn(volume, "name") ?? "";
  const source = recordIn(volume, "persistentVolumeClaim");
  if (source !== undefined) {
    const claimName = stringIn(source, "claimName") ?? "";
    return { volume: name, claimName, readOnly: source["readOnly"] === true, ephemeral: false, device };
  }
  if (recordIn(volume, "ephemeral") === undefined) return undefined;
  return { volume: name, claimName: `${podName}-${name}`, readOnly: false, ephemeral: true, device };
}

function groupIn(spec: unknown): PodEntry["group"] {
  const context = recordIn(spec, "securityContext");
  const fsGroup = context?.["fsGroup"];
  const policy = stringIn(context, "fsGroupChangePolicy");
  if (typeof fsGroup !== "number" || !Number.isInteger(fsGroup) || fsGroup < 0 || fsGroup > 0x7fffffff)
    return undefined;
  return { fsGroup, ...(policy === "OnRootMismatch" && { fsGroupChangePolicy: policy }) };
}

function groupsIn(spec: unknown): Pick<PodEntry, "groups"> {
  const groups = podGroups(spec);
  return groups.length > 0 ? { groups } : {};
}

/** A Namespace: its labels. */
export function projectNamespace(raw: unknown): KubeObject | undefined {
  const metadata = recordIn(raw, "metadata");
  const name = stringIn(metadata, "name");
  if (name === undefined) return undefined;
  const labels = metadata?.["labels"];
  return {
    metadata: {
      name,
      uid: stringIn(metadata, "uid") ?? "",
      resourceVersion: stringIn(metadata, "resourceVersion") ?? "",
      ...(isRecord(labels) && { labels: labels as { [key: string]: string } }),
    },
  };
}

/** The field selector of pods that have not ended: those that have do not count. */
export const notEnded = "status.phase!=Succeeded,status.phase!=Failed";

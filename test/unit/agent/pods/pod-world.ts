import type { IntentInput } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import { withPods } from "../../../../src/agent/desired/pod-mounts.ts";
import type { DesiredVolume } from "../../../../src/agent/model/desired.ts";
import type { MountPath } from "../../../../src/agent/model/identities.ts";
import { podTargetPath } from "../../../../src/agent/model/pod-path.ts";
import type { TargetRecord } from "../../../../src/agent/model/volume-record.ts";
import type { IntentPod, NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { prefix, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

export const kubeletDir = "/var/lib/kubelet";
export const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };

export function pod(uid: string, more: Partial<IntentPod> = {}): IntentPod {
  return { uid, namespace: "team", name: `pod-${uid}`, volume: "data", readOnly: false, ...more };
}

export function pathOf(uid: string): MountPath {
  return podTargetPath(kubeletDir, pod(uid));
}

export function withPodsOf(uids: readonly string[], more: Partial<IntentInput> = {}): NodeVolumeIntent {
  return wanted({ mounts: [], pods: uids.map((uid) => pod(uid)), ...more });
}

/** An intent as the planner takes it while kubelet has asked for these pods. */
export function desired(intent: NodeVolumeIntent, ...open: readonly string[]): DesiredVolume {
  const paths = open.map(pathOf);
  return withPods(desiredVolume(intent, "key"), kubeletDir, (path) => paths.includes(path)) as DesiredVolume;
}

export function podRecord(uid: string, more: Partial<TargetRecord> = {}): TargetRecord {
  const { readOnly: _flag, ...names } = pod(uid);
  return targetRecord({ path: pathOf(uid), name: `${uid}~data`, pod: names, mountID: 30, ...more });
}

/** The bind of a pod in the mount table. */
export function bound(uid: string) {
  return entry({ id: 30, point: pathOf(uid) });
}

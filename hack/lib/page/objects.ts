// Sets, nodes, intents and states as the API server has them, from what a picture or a test of the page cares about.
// Pure.
import { label, setLabelPrefix } from "../../../src/api/names.ts";
import type { NodeVolumeIntentStatus, Orphan, VolumeSource } from "../../../src/api/types.gen.ts";
import type { Raw } from "./fake-view.ts";

export interface Volume {
  readonly set: string;
  readonly source: VolumeSource;
  readonly type: string;
}

/** A time so many seconds before now, as metav1.Time. */
export function ago(now: number, seconds: number): string {
  return `${new Date(now - seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

export function rawNode(name: string, ready = true): Raw {
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  return {
    metadata: { name, uid: `uid-${name}` },
    spec: {},
    status: { conditions, nodeInfo: { bootID: `boot-${name}` } },
  };
}

export function rawSet({ set, source }: Volume, status: object = {}): Raw {
  const mounts = [{ name: "host", path: `/mnt/nodevolume/${set}` }];
  const metadata = { name: set, uid: `uid-${set}`, generation: 1, creationTimestamp: "2026-11-01T08:00:00Z" };
  return { metadata, spec: { volume: { source }, mounts }, status };
}

function intentName(node: string, { set }: Volume): string {
  return `${node}.${set}-9a8fb0fbcd`;
}

/** @param status over that of a volume that is mounted as it should be */
export function rawIntent(node: string, volume: Volume, now: number, status: NodeVolumeIntentStatus = {}): Raw {
  const { set, source, type } = volume;
  const name = intentName(node, volume);
  const uid = `uid-${name}`;
  const path = `/mnt/nodevolume/${set}`;
  const since = ago(now, 2 * 86_400);
  const metadata = {
    ...{ name, uid, generation: 1, creationTimestamp: since },
    labels: { [label.node]: node, [label.set]: set, [label.type]: type, [`${setLabelPrefix}${set}`]: "" },
  };
  const requester = { kind: "NodeVolumeSet", name: set, uid: `uid-${set}` };
  const spec = {
    ...{ nodeName: node, nodeUID: `uid-${node}`, volumeName: set, mode: "Manage", suspend: false, source },
    ...{ volumeMode: "Filesystem", mounts: [{ name: "host", requester, path, readOnly: false }], grant: { id: "g1" } },
    ...{ unmountPolicy: {}, deletionPolicy: "Unmount", adopt: "Never", nodeLossPolicy: "Wait" },
  };
  const ready = { type: "Ready", status: "True", reason: "Mounted", message: "", lastTransitionTime: since };
  const mounted: NodeVolumeIntentStatus = {
    ...{
      observedUID: uid,
      observedGeneration: 1,
      grantID: "g1",
      inUse: true,
      state: "Mounted",
      desiredMounts: 1,
      readyMounts: 1,
    },
    mounts: [{ name: "host", path, state: "Mounted" }],
    agent: { bootID: `boot-${node}`, epoch: 3 },
    conditions: [ready as never],
    history: [
      { time: ago(now, 2 * 86_400 + 2), state: "Staging" },
      { time: ago(now, 2 * 86_400 + 1), state: "Mounting" },
      { time: since, state: "Mounted", reason: "Mounted" },
    ],
  };
  return { metadata, spec, status: { ...mounted, ...status } };
}

/** What an agent says of a volume that it cannot set up. */
export function waitingStatus(
  now: number,
  seconds: number,
  reason: string,
  message: string,
  more: Partial<NodeVolumeIntentStatus> & { attempts?: number; retryIn?: number } = {},
): NodeVolumeIntentStatus {
  const { attempts = 3, retryIn = 70, ...rest } = more;
  const since = ago(now, seconds);
  return {
    ...{ inUse: false, state: "Waiting", desiredMounts: 1, readyMounts: 0, mounts: [] },
    waiting: { reason, message, since, attempts, nextRetryTime: ago(now, -retryIn) },
    conditions: [{ type: "Ready", status: "False", reason, message, lastTransitionTime: since }],
    history: [
      { time: ago(now, 2 * 86_400), state: "Mounted", reason: "Mounted" },
      { time: ago(now, seconds + 1), state: "Mounting" },
      { time: since, state: "Waiting", reason },
    ],
    ...rest,
  };
}

export function rawState(node: string, orphans: readonly Orphan[] = [], reason = "InSync"): Raw {
  const conditions = [
    { type: "Ready", status: "True", reason, message: "", lastTransitionTime: "2026-11-01T08:00:00Z" },
  ];
  const agent = { version: "0.1.0", bootID: `boot-${node}`, epoch: 3 };
  const metadata = { name: node, uid: `uid-state-${node}`, generation: 1 };
  return {
    metadata,
    status: { agent, synced: true, conditions, ...(orphans.length > 0 && { orphans, orphaned: orphans.length }) },
  };
}

export function rawLease(node: string, renewed: number): Raw {
  const renewTime = new Date(renewed).toISOString().replace("Z", "000Z");
  const metadata = { name: node, namespace: "nodevolume-system", uid: `uid-lease-${node}` };
  return { metadata, spec: { holderIdentity: node, leaseDurationSeconds: 180, renewTime } };
}

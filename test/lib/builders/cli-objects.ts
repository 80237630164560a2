import type { KubeObject } from "../../../src/api/meta.ts";
import type {
  IntentPod,
  NodeVolumeIntent,
  NodeVolumeSet,
  NodeVolumeState,
  PodMountStatus,
} from "../../../src/api/types.gen.ts";
import type { Facts, Raw } from "../../../src/explain/facts.ts";
import { agentLeaseSeconds, leaseValidity } from "../../../src/kube/leases/lease.ts";

/**
 * Objects as an API server gives them, with as little as an explanation needs. Times are so many seconds before `now`.
 */
export const now = Date.parse("2026-03-01T12:00:00Z");
export const ago = (seconds: number): string => `${new Date(now - seconds * 1000).toISOString().slice(0, 19)}Z`;

type Fields = { readonly [key: string]: unknown };

const meta = (name: string, namespace: string | undefined, more: Fields = {}): KubeObject["metadata"] => ({
  name,
  ...(namespace !== undefined && { namespace }),
  uid: `uid-${name}`,
  generation: 1,
  creationTimestamp: ago(600),
  ...more,
});

export const raw = (name: string, namespace: string | undefined, fields: Fields, more: Fields = {}): Raw =>
  ({ metadata: meta(name, namespace, more), ...fields }) as Raw;

/** A pod with one volume that its container uses. */
export function pod(
  name: string,
  volume: Fields,
  options: { node?: string; started?: boolean; spec?: Fields; status?: Fields; meta?: Fields } = {},
): Raw {
  const { node, started = false } = options;
  const state = started ? { running: {} } : { waiting: { reason: "ContainerCreating" } };
  const spec = {
    ...(node !== undefined && { nodeName: node }),
    containers: [{ name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    volumes: [{ name: "data", ...volume }],
    ...options.spec,
  };
  const status = {
    phase: started ? "Running" : "Pending",
    containerStatuses: node === undefined ? [] : [{ name: "main", state }],
    ...options.status,
  };
  return raw(name, "shop", { spec, status }, options.meta);
}

export const claimVolume = (claimName: string) => ({ persistentVolumeClaim: { claimName } });
export const ourVolume = (volumeAttributes: Fields) => ({ csi: { driver: "csi.nodevolume.dev", volumeAttributes } });

export function claim(name: string, volumeName: string | undefined, spec: Fields = {}, more: Fields = {}): Raw {
  const status = { phase: volumeName === undefined ? "Pending" : "Bound" };
  return raw(
    name,
    "shop",
    { spec: { storageClassName: "fast", ...(volumeName !== undefined && { volumeName }), ...spec }, status },
    more,
  );
}

export const volume = (name: string, claimName: string, modes = ["ReadWriteOnce"]): Raw =>
  raw(name, undefined, {
    spec: {
      csi: { driver: "disk.example", volumeHandle: `h-${name}` },
      accessModes: modes,
      claimRef: { namespace: "shop", name: claimName },
    },
  });

export const attachment = (name: string, of: string, node: string, status: Fields, more: Fields = {}): Raw =>
  raw(
    name,
    undefined,
    { spec: { attacher: "disk.example", nodeName: node, source: { persistentVolumeName: of } }, status },
    more,
  );

export const csiNode = (name: string, ...drivers: string[]): Raw =>
  raw(name, undefined, { spec: { drivers: drivers.map((driver) => ({ name: driver })) } });

export function node(name: string, ready = true): Raw {
  const condition = ready
    ? { type: "Ready", status: "True" }
    : {
        type: "Ready",
        status: "Unknown",
        message: "Kubelet stopped posting node status.",
        lastTransitionTime: ago(300),
      };
  return raw(name, undefined, { status: { conditions: [condition] } });
}

/** An agent that renewed its Lease so many seconds ago. */
export const agent = (node: string, renewedAgo: number): Facts["agents"][number] => ({
  node,
  lease: leaseValidity(agentLeaseSeconds, renewedAgo * 1_000).state,
  renewed: ago(renewedAgo),
});

export function event(about: Raw, reason: string, message: string, count = 3): Raw {
  const { name, namespace, uid } = about.metadata;
  return raw(`${name}.${reason}`, namespace, {
    involvedObject: { name, namespace, uid },
    type: "Warning",
    reason,
    message,
    count,
    firstTimestamp: ago(240),
    lastTimestamp: ago(10),
  });
}

export function intent(
  name: string,
  spec: Partial<NodeVolumeIntent["spec"]>,
  status: Partial<NodeVolumeIntent["status"]> = {},
  more: Fields = {},
): NodeVolumeIntent {
  const [nodeName = "", volumeName = ""] = name.split(".");
  return {
    metadata: meta(name, undefined, more),
    spec: {
      nodeName,
      nodeUID: `uid-${nodeName}`,
      volumeName,
      mode: "Manage",
      suspend: false,
      source: { nfs: { server: "nas", path: "/data" } },
      volumeMode: "Filesystem",
      mounts: [],
      unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
      deletionPolicy: "Unmount",
      adopt: "Never",
      nodeLossPolicy: { type: "Never" },
      ...spec,
    },
    status: { observedUID: `uid-${name}`, observedGeneration: 1, ...status },
  };
}

export const ready = (status: "True" | "False" | "Unknown", reason: string, message = "") => [
  { type: "Ready", status, reason, message, lastTransitionTime: ago(120), observedGeneration: 1 },
];

export const set = (
  name: string,
  spec: Partial<NodeVolumeSet["spec"]> = {},
  status: NodeVolumeSet["status"] = {},
): NodeVolumeSet => {
  const volume = { source: { emptyDir: {} } };
  return { metadata: meta(name, undefined), spec: { volume, mounts: [], ...spec }, status } as NodeVolumeSet;
};

export const state = (name: string, status: NodeVolumeState["status"]): NodeVolumeState => ({
  metadata: meta(name, undefined),
  status,
});

/** Facts with nothing but what is given. */
export function facts(given: Partial<Facts>): Facts {
  return {
    now,
    pods: [],
    claims: [],
    persistentVolumes: [],
    volumeAttachments: [],
    csiDrivers: [],
    csiNodes: [],
    storageClasses: [],
    namespaces: [],
    nodes: [node("worker-1"), node("worker-2")],
    events: [],
    agents: [agent("worker-1", 20), agent("worker-2", 20)],
    sets: [],
    intents: [],
    states: [],
    denied: {},
    sha256: (text) => `sha256-of-${text}`,
    ...given,
  };
}

/** A pod of the namespace shop, as an intent lists it. */
export function listedPod(name: string, uid = `uid-${name}`): IntentPod {
  return { uid, namespace: "shop", name, volume: "data", readOnly: false };
}

/** The same, as the intent's status answers for it. */
export function podState(name: string, state: PodMountStatus["state"], uid = `uid-${name}`): PodMountStatus {
  return { uid, volume: "data", state };
}

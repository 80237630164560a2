import type { PodEntry } from "../../../../src/controller/model/pod-entry.ts";
import { projectPod } from "../../../../src/controller/model/pod-entry.ts";

/** Pods as the API server would have them, from what a test cares about. */
export interface PodOptions {
  readonly uid?: string;
  readonly node?: string;
  /** Seconds since the epoch. */
  readonly created?: number;
  readonly phase?: string;
  readonly deleted?: boolean;
  readonly annotations?: { [key: string]: string };
  readonly securityContext?: object;
  readonly volumes?: object[];
  readonly containers?: object[];
  readonly more?: object;
}

/** A volume of the driver for pods. */
export function ours(attributes: object, name = "v", csi: object = {}): object {
  return { name, csi: { driver: "csi.nodevolume.dev", volumeAttributes: attributes, ...csi } };
}

/** @param name `namespace/name`. Every volume is used, if no containers are given. */
export function rawPod(name: string, options: PodOptions = {}) {
  const [namespace = "", own = ""] = name.split("/");
  const { uid, node = "n1", created = 0, phase = "Running", deleted, annotations, securityContext } = options;
  const volumes = options.volumes ?? [ours({ set: "a" })];
  const volumeMounts = volumes.map((volume) => ({ name: (volume as { name: string }).name, mountPath: "/x" }));
  const containers = options.containers ?? [{ name: "c", volumeMounts }];
  return {
    metadata: {
      name: own,
      namespace,
      uid: uid ?? `uid-${own}`,
      resourceVersion: "1",
      creationTimestamp: new Date(1_700_000_000_000 + created * 1000).toISOString(),
      ...(annotations && { annotations }),
      ...(deleted && { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    },
    spec: { nodeName: node, volumes, containers, ...(securityContext && { securityContext }), ...options.more },
    status: { phase },
  };
}

export function pod(name: string, options: PodOptions = {}): PodEntry {
  const projected = projectPod(rawPod(name, options));
  if (projected === undefined) throw new Error(`pod ${name} is not kept`);
  return projected;
}

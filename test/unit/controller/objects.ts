import type { NodeVolumeIntentStatus, NodeVolumeSetSpec } from "../../../src/api/types.gen.ts";
import type { Intent, NodeInfo, SetEntry } from "../../../src/controller/model/projections.ts";
import { projectNode, projectSet } from "../../../src/controller/model/projections.ts";

/** Objects as the API server would have them, from what a test cares about. */

type Deep<T> = { [K in keyof T]?: T[K] extends object | undefined ? Deep<T[K]> : T[K] };

export interface SetOptions {
  readonly uid?: string;
  readonly created?: number;
  readonly deleted?: boolean;
  readonly finalizers?: string[];
  readonly generation?: number;
  readonly spec?: Deep<NodeVolumeSetSpec> & { volume?: unknown; mounts?: unknown };
}

export function rawSet(name: string, { uid, created = 0, deleted, finalizers, generation = 1, spec }: SetOptions = {}) {
  const volume = { source: { hostPath: { path: "/data/share" } } };
  const mounts = [{ name: "host", path: `/mnt/nodevolume/${name}` }];
  return {
    metadata: {
      name,
      uid: uid ?? `uid-${name}`,
      resourceVersion: "1",
      generation,
      creationTimestamp: new Date(1_700_000_000_000 + created * 1000).toISOString(),
      finalizers: finalizers ?? ["nodevolume.dev/unmount"],
      ...(deleted && { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    },
    spec: { volume, mounts, ...spec },
    status: {},
  };
}

export function setEntry(name: string, options: SetOptions = {}): SetEntry {
  const entry = projectSet(rawSet(name, options));
  if (entry === undefined) throw new Error(`no set ${name}`);
  return entry;
}

/** A set that must be valid. */
export function validSet(name: string, options: SetOptions = {}): SetEntry & { spec: NodeVolumeSetSpec } {
  const entry = setEntry(name, options);
  if (entry.spec === undefined) throw new Error(`set ${name}: ${entry.invalid}`);
  return { ...entry, spec: entry.spec };
}

export interface NodeOptions {
  readonly uid?: string;
  readonly labels?: { [key: string]: string };
  readonly taints?: { key: string; value?: string; effect: string }[];
  readonly unschedulable?: boolean;
  readonly ready?: boolean;
  readonly bootID?: string;
}

export function rawNode(name: string, { uid, labels, taints, unschedulable, ready, bootID }: NodeOptions = {}) {
  return {
    metadata: { name, uid: uid ?? `uid-${name}`, resourceVersion: "1", ...(labels && { labels }) },
    spec: { ...(taints && { taints }), ...(unschedulable !== undefined && { unschedulable }) },
    status: {
      conditions: [{ type: "Ready", status: ready === false ? "False" : "True" }],
      nodeInfo: { bootID: bootID ?? `boot-${name}` },
    },
  };
}

export function node(name: string, options: NodeOptions = {}): NodeInfo {
  const projected = projectNode(rawNode(name, options));
  if (projected === undefined) throw new Error(`no node ${name}`);
  return projected;
}

/** What an agent reports once all is as the spec says; `more` on top. */
export function settledStatus(intent: Intent, more: Partial<NodeVolumeIntentStatus> = {}): NodeVolumeIntentStatus {
  const { metadata, spec } = intent;
  const deleted = metadata.deletionTimestamp !== undefined;
  const conditions = [condition("Ready", deleted ? "False" : "True", deleted ? "Released" : "Mounted")];
  return {
    observedUID: metadata.uid ?? "",
    observedGeneration: metadata.generation ?? 0,
    ...(spec.grant && { grantID: spec.grant.id }),
    inUse: !deleted,
    state: deleted ? "Released" : "Mounted",
    mounts: deleted ? [] : spec.mounts.map(({ name, path }) => ({ name, path, state: "Mounted" as const })),
    agent: { bootID: `boot-${spec.nodeName}`, epoch: 1 },
    conditions,
    ...more,
  };
}

export function condition(type: string, status: "True" | "False" | "Unknown", reason: string, message = "") {
  return { type, status, reason, message, lastTransitionTime: "2024-01-01T00:00:00Z" };
}

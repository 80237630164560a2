// Pods that start and stop while it is measured, and when the controller has written what follows.
import { resource } from "../../../../src/api/names.ts";
import type { NodeVolumeIntentSpec } from "../../../../src/api/types.gen.ts";
import { podText } from "./bases.ts";
import type { Cluster } from "./cluster.ts";
import { uidOf } from "./shape.ts";
import type { Stored } from "./writes.ts";

/**
 * Milliseconds from where the scheduler has written a pod's node to the first request that names the pod in an intent.
 */
export interface Latencies {
  readonly observed: number[];
  readonly managed: number[];
}

export interface PodLives {
  /** Pods by index, `everyMs` apart; resolves when the last one was scheduled. */
  start(pods: readonly number[], everyMs: number): Promise<void>;
  stop(pods: readonly number[], everyMs: number): Promise<void>;
  /** To be told of each request that writes an intent. */
  wrote(sent: Stored | undefined): void;
  readonly latencies: Latencies;
}

/** Milliseconds from scheduled to Running, and from deleted to gone, as of a pod that starts and stops quickly. */
const runningMs = 500;
const gonePatienceMs = 300;

type Pod = Stored & { readonly spec: object; readonly status: object };

export function createPodLives(cluster: Cluster): PodLives {
  const { names } = cluster;
  const pods = cluster.of(resource.pods);
  const scheduledAt = new Map<string, { readonly at: number; seen: Set<"observed" | "managed"> }>();
  const latencies: Latencies = { observed: [], managed: [] };
  const keyOf = (pod: number) => `${names.namespaceOfPod(pod)}/${names.pod(pod)}`;

  function write(pod: number, change: (object: Pod) => Pod | undefined): void {
    const version = cluster.nextVersion();
    const key = keyOf(pod);
    const before = JSON.parse(pods.get(key) ?? podText(names, cluster.writers, pod, version)) as Pod;
    const after = change(before);
    const stored = after ?? before;
    const text = JSON.stringify({ ...stored, metadata: { ...stored.metadata, resourceVersion: String(version) } });
    if (after === undefined) pods.remove(key, text, version);
    else pods.put(key, text, version);
  }

  const phase = (object: Pod, is: string): Pod => ({ ...object, status: { ...object.status, phase: is } });

  async function startOne(pod: number): Promise<void> {
    write(pod, (object) => ({ ...phase(object, "Pending"), spec: { ...object.spec, nodeName: undefined } }));
    await after(5);
    write(pod, (object) => ({ ...object, spec: { ...object.spec, nodeName: names.nodeOfPod(pod) } }));
    scheduledAt.set(uidOf(1, pod), { at: performance.now(), seen: new Set() });
    setTimeout(() => write(pod, (object) => phase(object, "Running")), runningMs);
  }

  async function stopOne(pod: number): Promise<void> {
    const deletionTimestamp = new Date().toISOString();
    write(pod, (object) => ({ ...object, metadata: { ...object.metadata, deletionTimestamp } }));
    await after(gonePatienceMs);
    write(pod, () => undefined);
  }

  async function each(all: readonly number[], everyMs: number, act: (pod: number) => Promise<void>): Promise<void> {
    const begun = performance.now();
    const acts: Promise<void>[] = [];
    for (const [index, pod] of all.entries()) {
      await after(begun + index * everyMs - performance.now());
      acts.push(act(pod));
    }
    await Promise.all(acts);
  }

  return {
    start: (all, everyMs) => each(all, everyMs, startOne),
    stop: (all, everyMs) => each(all, everyMs, stopOne),
    wrote(sent) {
      const spec = sent?.["spec"] as Partial<NodeVolumeIntentSpec> | undefined;
      const kind = spec?.mode === "Observe" ? "observed" : "managed";
      for (const { uid } of spec?.pods ?? []) {
        const started = scheduledAt.get(uid);
        if (started === undefined || started.seen.has(kind)) continue;
        started.seen.add(kind);
        latencies[kind].push(performance.now() - started.at);
      }
    },
    latencies,
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

import type { KubeObject } from "../../api/meta.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, System } from "../../ports.ts";
import type { Storage } from "../cache/storage.ts";
import { sameDemand } from "../intents/gather.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { namesClaim } from "../model/pod-volume.ts";
import type { Intent, NodeInfo, SetEntry } from "../model/projections.ts";
import { keyOfPod } from "./pod-reconciler.ts";

/**
 * Milliseconds that changes of what gated pods wait for are collected: many of these come together. Many pods wait
 * longer, a millisecond each: whoever makes ten thousand that nothing can help must not have them looked at with every
 * claim's change.
 */
const gatesDelayMs = 100;
/** And those of intents: what one agent says of many volumes comes together. */
const intentDelayMs = 50;

/** The caches whose changes may lift scheduling gates. */
export interface WaitStores {
  readonly sets: ObjectStore<SetEntry>;
  readonly nodes: ObjectStore<NodeInfo>;
  readonly intents: ObjectStore<Intent>;
  readonly pods: ObjectStore<PodEntry>;
  readonly namespaces: ObjectStore<KubeObject>;
}

/** The connection between watches and the queue of waiting pods. */
export interface PodWaits {
  /** Every pod that waits at a gate of ours, or uses a volume of ours, is looked at again. */
  all(): void;
  stop(): void;
}

/**
 * Which change makes which pod due. Pods at gates are few, and are all looked at when anything changes that they may
 * wait for.
 */
export function connectWaits(
  { timers, yielder }: Pick<System, "timers" | "yielder">,
  stores: WaitStores,
  storage: Pick<Storage, "claims" | "persistentVolumes" | "storageClasses" | "need">,
  queue: Pick<KeyedQueue, "add" | "addAfter">,
  forget: (uid: string) => void,
): PodWaits {
  const gated = new Set<string>();
  const lookAtGated = createFullResync(yielder, function* () {
    for (const key of gated) yield queue.add(key);
  });
  let cancelLook: Cancel | undefined;
  /** Once for all that changes meanwhile. */
  const allGated = () => {
    if (gated.size === 0) return;
    cancelLook ??= timers.after(Math.max(gatesDelayMs, gated.size), () => {
      cancelLook = undefined;
      lookAtGated.begin();
    });
  };
  const everyPod = createFullResync(yielder, function* () {
    for (const pod of stores.pods.list()) {
      if (pod.gates !== undefined || pod.volumes.length > 0) yield queue.add(keyOfPod(pod));
    }
  });
  const onPod = (pod: PodEntry) => {
    const key = keyOfPod(pod);
    if (pod.gates === undefined) gated.delete(key);
    else {
      gated.add(key);
      // Not started by intents, as there is none before the pod has its node.
      if (namesClaim(pod)) storage.need();
    }
    if (pod.gates !== undefined || pod.volumes.length > 0) queue.add(key);
  };
  const onIntent = ({ spec }: Intent) => {
    if (spec.observed !== undefined) return;
    for (const { namespace, name } of spec.pods ?? []) queue.addAfter(`${namespace}/${name}`, intentDelayMs);
  };
  const whenChanged = <T extends KubeObject>(same: (a: T, b: T) => boolean) => ({
    onAdd: allGated,
    onUpdate: (before: T, after: T) => {
      if (!same(before, after)) allGated();
    },
    onDelete: allGated,
  });
  const never = () => false;
  const cancels: Cancel[] = [
    stores.pods.subscribe({
      onAdd: onPod,
      onUpdate(before, after) {
        const { metadata: _, ...was } = before;
        const { metadata: __, ...is } = after;
        if (before.metadata.uid !== after.metadata.uid || !sameJson(was, is)) onPod(after);
      },
      onDelete(pod) {
        gated.delete(keyOfPod(pod));
        forget(pod.metadata.uid ?? "");
      },
    }),
    stores.sets.subscribe(whenChanged<SetEntry>((a, b) => sameDemand(a, b) && isReady(a) === isReady(b))),
    stores.nodes.subscribe(
      whenChanged<NodeInfo>((a, b) => sameJson([a.metadata.labels, a.taints], [b.metadata.labels, b.taints])),
    ),
    stores.namespaces.subscribe(whenChanged<KubeObject>((a, b) => sameJson(a.metadata.labels, b.metadata.labels))),
    storage.claims.store.subscribe(whenChanged(never)),
    storage.persistentVolumes.store.subscribe(whenChanged(never)),
    storage.storageClasses.store.subscribe(whenChanged(never)),
    stores.intents.subscribe({
      onAdd: onIntent,
      onUpdate(before, after) {
        onIntent(before);
        onIntent(after);
      },
      onDelete: onIntent,
    }),
  ];
  return {
    all: everyPod.begin,
    stop() {
      cancelLook?.();
      lookAtGated.stop();
      everyPod.stop();
      for (const cancel of cancels) cancel();
    },
  };
}

/** On some node: what its status says besides changes with each of its nodes. */
function isReady({ status }: SetEntry): boolean {
  return (status.ready ?? 0) > 0;
}

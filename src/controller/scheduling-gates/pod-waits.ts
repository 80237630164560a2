import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { KeyedQueue, RequeueAfter } from "../../kube/keyed-queue.ts";
import type { System } from "../../ports.ts";
import type { Pods } from "../cache/pods.ts";
import { claimObjectsOf, type Storage } from "../cache/storage.ts";
import type { Watches } from "../cache/watches.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { NodeInput } from "../model/node-input.ts";
import { connectWaits, type PodWaits } from "./connect-waits.ts";
import type { GateFacts } from "./decide-gates.ts";
import { type ReconcilePodDeps, reconcilePod } from "./pod-reconciler.ts";
import type { LastReport } from "./show-volumes-ready.ts";

/** Dependencies of the work on waiting pods. */
export interface PodWaitDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  readonly watches: Watches;
  readonly pods: Pods;
  readonly storage: Storage;
  readonly gatherer: Gatherer;
  readonly consent: NodeInput["consent"];
  readonly refusals: ReconcilePodDeps["refusals"];
}

/** Pods that wait for volumes: what is done for the keys of a queue, and what makes them due. */
export interface PodWaitWork {
  reconcile(key: string): Promise<RequeueAfter | undefined>;
  connect(queue: Pick<KeyedQueue, "add" | "addAfter">): PodWaits;
}

/** Wires scheduling gates and the readiness condition of pods to watches and a queue. */
export function createPodWaits(deps: PodWaitDeps): PodWaitWork {
  const { system, client, recorder, watches, pods, storage, gatherer } = deps;
  const { sets, nodes, intents } = watches;
  const said = new Map<string, LastReport>();
  const claims = claimObjectsOf(storage);
  const gateFacts = (): GateFacts => ({
    set: (name) => sets.store.get(name),
    labelsOf(namespace) {
      const found = pods.namespaces.store.get(namespace);
      return found && (found.metadata.labels ?? {});
    },
    claims: storage.complete() ? claims : undefined,
    consent: deps.consent,
  });
  const reconcileDeps: ReconcilePodDeps = {
    client,
    clock: system.clock,
    log: system.log,
    recorder,
    said,
    gateFacts,
    complete: () => gatherer.complete() && pods.complete(),
    pod: (name, namespace) => pods.pods.store.get(name, namespace),
    node: (name) => nodes.store.get(name),
    upsertPod: (raw) => pods.pods.upsertIfNewer(raw),
    intentsOf: (node) => gatherer.intentsOf(node),
    refusals: deps.refusals,
  };
  return {
    reconcile: (key) => reconcilePod(reconcileDeps, key),
    connect(queue) {
      const stores = { sets: sets.store, nodes: nodes.store, intents: intents.store };
      const ofPods = { pods: pods.pods.store, namespaces: pods.namespaces.store };
      return connectWaits(system, { ...stores, ...ofPods }, storage, queue, (uid) => said.delete(uid));
    },
  };
}

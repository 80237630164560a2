import { resource, systemNamespace } from "../api/names.ts";
import type { KubeClient } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import type { EventRecorder } from "../kube/events/event-recorder.ts";
import type { Reconcile, RequeueAfter } from "../kube/keyed-queue.ts";
import { followPolicies } from "../kube/policies/follow-policies.ts";
import {
  type AcceptedPolicies,
  controllerSentence,
  inspectPolicies,
  policyBindings,
} from "../kube/policies/policies.ts";
import { createPolicyWatch, type PolicyWatch } from "../kube/policies/policy-watch.ts";
import type { Cancel, System } from "../ports.ts";
import { createAgentEvents } from "./agents/agent-events.ts";
import type { AgentLeases } from "./agents/agent-leases.ts";
import type { IntentAttachments } from "./attach/intent-attachments.ts";
import type { Pods } from "./cache/pods.ts";
import type { Storage } from "./cache/storage.ts";
import type { Watches } from "./cache/watches.ts";
import type { Gatherer } from "./intents/gather.ts";
import { createPendingWrites, type PendingWrites } from "./intents/pending-writes.ts";
import type { Metrics } from "./metrics.ts";
import type { NodeInput } from "./model/node-input.ts";
import { type Intent, refOf, type SetEntry } from "./model/projections.ts";
import type { Claim } from "./model/storage-objects.ts";
import { isGuarded, type VolumeKey } from "./model/volume-key.ts";
import { createObserve, type Observe } from "./observe/observe.ts";
import { createRejectionEvents, type RejectionEvents } from "./pods/rejection-events.ts";
import { createQueues, type Reconcilers } from "./queues/queues.ts";
import { type Queues, sameNode } from "./queues/triggers.ts";
import { createReadiness } from "./readiness/reconcile-readiness.ts";
import { reconcileAgent } from "./reconcilers/agent-reconciler.ts";
import { reconcileNode } from "./reconcilers/node-reconciler.ts";
import { reconcileNodeState } from "./reconcilers/node-state-reconciler.ts";
import { type ReleaseIntentDeps, releaseIntent } from "./reconcilers/release-reconciler.ts";
import { type ReconcileSetDeps, reconcileSet, releaseSet } from "./reconcilers/set-reconciler.ts";
import { createVolumeWork, type VolumeWork } from "./reconcilers/volume-controller.ts";
import { awaitsRelease, doubtForMs, mendsInMs, settleMs } from "./release/decide-release.ts";
import { keyOfPod } from "./scheduling-gates/pod-reconciler.ts";
import { createPodWaits } from "./scheduling-gates/pod-waits.ts";
import type { FinalizerControllerDeps } from "./sets/finalizer-controller.ts";
import { createPodCount } from "./sets/pod-count.ts";

/** Dependencies of the leader's reconcilers. Watches and caches are shared with candidates that do not lead. */
export interface ControllersDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly transport: Transport;
  readonly acceptedPolicies: AcceptedPolicies | undefined;
  readonly recorder: EventRecorder;
  readonly watches: Watches;
  readonly storage: Storage;
  readonly pods: Pods;
  readonly gatherer: Gatherer;
  readonly consent: NodeInput["consent"];
  readonly leases: AgentLeases;
  readonly metrics: Metrics;
  readonly controllerAttachDetach: boolean;
  readonly observePods: "None" | "PersistentVolumes";
  readonly indexIntents: boolean;
}

/** The work queues with their reconcilers, and the state that these share: rollout admissions, and writes under way. */
export interface Controllers {
  readonly queues: Queues;
  readonly finalizerControllerDeps: FinalizerControllerDeps;
  /** Reconciles every volume of CSI drivers. */
  allVolumes(): void;
  /** Claims of any PersistentVolume of a volume, by its key. */
  claimsOfVolume(key: VolumeKey): Claim[];
  /** Reconciles the observed volumes of every node: those that kubelet manages. */
  allObserved(): void;
  /** Reconciles every pod that waits for a volume or has one. */
  allPods(): void;
  /** Nodes with a pod that was refused because this PVC does not exist. */
  nodesWithout(namespace: string, claim: string): string[];
  /** Nodes with a pod that was refused because a PVC does not allow this set. */
  nodesRefused(set: string): string[];
  /** Whether the admission policies are in force; looks at them once it is started. */
  readonly policies: PolicyWatch;
  stop(): Promise<void>;
  /** Starts no more runs; resolves when those under way have ended. */
  pause(): Promise<void>;
  /** @param unbroken no one else has led since the pause, so that what is remembered of that time is still valid */
  resume(unbroken: boolean): void;
}

/** What the reconcilers share. */
interface Shared extends ControllersDeps {
  readonly queues: Queues;
  readonly policies: PolicyWatch;
  readonly pendingWrites: PendingWrites;
  /** By set, the nodes that the rollout has admitted. */
  readonly admitted: Map<string, ReadonlySet<string>>;
  readonly rejections: RejectionEvents;
  readonly hasNode: (name: string) => boolean;
  readonly upsertIntent: (raw: unknown) => void;
}

/**
 * Wires the reconcilers to the controller's caches and queues. `triggers.ts` fills the queues from the watches; each
 * queue has the reconciler of its name, which tells it when a key is run again. The caller pauses the queues while
 * another process leads.
 */
export function createControllers(deps: ControllersDeps): Controllers {
  const { system, client, recorder, watches, gatherer } = deps;
  const { nodes, intents } = watches;
  // No key runs before all reconcilers are there, as nothing fills the queues yet.
  const queues = createQueues(system, deps.metrics, (name, key) => reconcilers[name](key));
  const policies = createPolicies(deps, queues, () => volumes.all());
  const pendingWrites = createPendingWrites((set) => queues.sets.add(set));
  const rejections = createRejectionEvents(recorder, (pod) => queues.pods.add(keyOfPod(pod)));
  const shared: Shared = {
    ...{ ...deps, queues, policies: policies.watch, pendingWrites, rejections, admitted: new Map() },
    hasNode: (name) => nodes.store.get(name) !== undefined,
    upsertIntent: (raw) => intents.upsertIfNewer(raw),
  };
  const release = createRelease(shared);
  const sets = createSetReconciler(shared);
  const podWaits = createPodWaits({ ...deps, refusals: rejections.of });
  const volumes = createVolumes(shared, release);
  const observe = createObserved(shared);
  const reconcilers: Reconcilers = {
    sets: sets.reconcile,
    nodes: createNodeReconciler(shared),
    releases: createReleaseReconciler(shared, volumes, release),
    agents: createAgentReconciler(shared),
    states: createStateReconciler(shared),
    readiness: createReadiness({ client, clock: system.clock, log: system.log, gatherer, nodes }),
    observed: observe.reconcile,
    pods: podWaits.reconcile,
    volumes: volumes.reconcile,
  };
  const waits = podWaits.connect(queues.pods);

  return {
    queues,
    finalizerControllerDeps: sets.finalizerControllerDeps,
    allVolumes: volumes.all,
    claimsOfVolume: volumes.claims,
    allObserved: observe.all,
    allPods: waits.all,
    nodesWithout: rejections.nodesWithout,
    nodesRefused: rejections.nodesRefused,
    policies: policies.watch,
    async stop() {
      await policies.stop();
      for (const one of [volumes, observe, waits]) one.stop();
    },
    async pause() {
      shared.admitted.clear();
      await Promise.all(Object.values(queues).map((queue) => queue.pause()));
    },
    resume(unbroken) {
      if (!unbroken) volumes.begin();
      for (const queue of Object.values(queues)) queue.resume();
      // What was being written when the work was paused may have been applied since.
      for (const node of pendingWrites.nodes()) queues.nodes.add(node);
    },
  };
}

/** Looks whether the admission policies are in force, and makes due what rests on them when that changes. */
function createPolicies(deps: ControllersDeps, queues: Queues, allVolumes: () => void) {
  const { system, client, acceptedPolicies } = deps;
  const { sets, intents } = deps.watches;
  let cancelSettled: Cancel = () => {};
  const watch = createPolicyWatch({
    system,
    look: () => inspectPolicies(client, policyBindings, acceptedPolicies),
    follow: (changed) => followPolicies(deps, policyBindings, changed),
    sentence: controllerSentence,
    onChange() {
      for (const { metadata } of sets.store.list()) queues.sets.add(metadata.name);
    },
    onKnown() {
      // Acknowledgements that were not trusted are checked again.
      for (const intent of intents.store.list()) if (awaitsRelease(intent)) queues.releases.add(intent.metadata.name);
      allVolumes();
      cancelSettled();
      const { wrong, rightForMs } = watch.agentsPolicy();
      const leftMs = settleMs(mendsInMs(deps.indexIntents)) - rightForMs;
      if (wrong !== undefined || leftMs <= 0) return;
      system.log.warn("acknowledgements of agents count again in a while", { ms: leftMs });
      cancelSettled = system.timers.after(leftMs, allVolumes);
    },
  });
  return {
    watch,
    async stop() {
      await watch.stop();
      cancelSettled();
    },
  };
}

function createSetReconciler(shared: Shared) {
  const { system, client, recorder, gatherer, queues, policies, pendingWrites, admitted, hasNode } = shared;
  const { sets } = shared.watches;
  const { clock, log } = system;
  const podCount = createPodCount({ clock, pods: shared.pods, intentsOf: gatherer.intentsOf });
  const deps: ReconcileSetDeps = {
    ...{ client, clock, log, recorder, gatherer, pendingWrites, hasNode, podCount },
    unguarded: () => policies.missing,
    upsert: (raw) => sets.upsertIfNewer(raw),
    admit(set, nodes) {
      admitted.set(set, nodes);
      for (const node of nodes) queues.nodes.add(node);
    },
  };
  let onSet: (set: SetEntry) => Promise<RequeueAfter | undefined> = () => Promise.resolve(undefined);
  const finalizerControllerDeps: FinalizerControllerDeps = {
    watchSets(handler) {
      onSet = handler;
    },
    async writeFinalizers(set, finalizers) {
      const answer = await client.mergePatch(resource.sets, refOf(set), { metadata: { finalizers } });
      // A set whose last finalizer was taken off is gone, which the watch will say.
      if (finalizers.length > 0) sets.upsertIfNewer(answer);
    },
    reconcile: (set) => reconcileSet(deps, set),
    async release(set) {
      const left = await releaseSet(deps, set);
      if (left !== undefined) log.debug("set is still in use", { set: set.metadata.name, why: left.why });
      return left;
    },
  };
  const reconcile: Reconcile = async (name) => {
    const set = sets.store.get(name);
    if (set !== undefined) return onSet(set);
    admitted.delete(name);
    podCount.forget(name);
    return undefined;
  };
  return { reconcile, finalizerControllerDeps };
}

function createNodeReconciler(shared: Shared): Reconcile {
  const { system, client, recorder, gatherer, leases, pendingWrites, admitted, rejections, upsertIntent } = shared;
  const { random, log } = system;
  const notices = createRejectionEvents(recorder, () => {});
  const mayUpdate = (set: string, node: string) => admitted.get(set)?.has(node) === true;
  const told = { rejections, notices };
  const deps = { ...told, client, random, log, gatherer, leases, pendingWrites, upsert: upsertIntent, mayUpdate };
  return (node) => reconcileNode(deps, node);
}

/** Tries to let an intent go that is being deleted. */
type Release = (intent: Intent, attachments?: IntentAttachments) => Promise<RequeueAfter | undefined>;

function createRelease({ client, system, recorder, watches, leases, policies, indexIntents }: Shared): Release {
  const { nodes, sets } = watches;
  const deps: ReleaseIntentDeps = {
    client,
    log: system.log,
    recorder,
    node: (name) => nodes.store.get(name),
    silence: leases.silence,
    agentsPolicy: () => policies.agentsPolicy(),
    mendsInMs: mendsInMs(indexIntents),
    sawLease: (raw) => watches.leases.upsertIfNewer(raw),
    uidOfSet: (name) => sets.store.get(name)?.metadata.uid,
  };
  return async (intent, attachments) => {
    const decision = await releaseIntent({ ...deps, ...(attachments && { attachments }) }, intent);
    return decision?.release === false ? decision.checkAgainInMs : undefined;
  };
}

function createReleaseReconciler({ watches, queues }: Shared, volumes: VolumeWork, release: Release): Reconcile {
  return async (name) => {
    const intent = watches.intents.store.get(name);
    if (intent === undefined) return undefined;
    if (!isGuarded(intent.spec.source)) return release(intent);
    // One queue for all that is done about a volume.
    queues.volumes.add(volumes.keyOf(intent));
    return undefined;
  };
}

function createAgentReconciler({ system, client, recorder, watches, gatherer, leases, ...shared }: Shared): Reconcile {
  const { clock, log } = system;
  const { nodes, states } = watches;
  const state = (node: string) => states.store.get(node);
  const uidOfNode = (name: string) => nodes.store.get(name)?.metadata.uid;
  const uidOfState = (name: string) => state(name)?.metadata.uid;
  const agentEvents = createAgentEvents({ recorder, clock, leases, uidOfNode, uidOfState });
  const deps = {
    ...{ client, clock, log, gatherer, leases, state, agentEvents },
    hasNode: shared.hasNode,
    upsert: shared.upsertIntent,
    upsertState: (raw: unknown) => states.upsertIfNewer(raw),
    reportedLost: new Set<string>(),
  };
  return (node) => reconcileAgent(deps, node);
}

function createStateReconciler(shared: Shared): Reconcile {
  const { system, client, watches, gatherer, leases, hasNode, indexIntents } = shared;
  const { complete, intentsOf } = gatherer;
  const { states } = watches;
  const deps = {
    ...{ client, log: system.log, indexIntents, complete, intentsOf, hasNode, leases },
    upsert: (raw: unknown) => states.upsertIfNewer(raw),
    state: (node: string) => states.store.get(node),
    lease: (node: string) => watches.leases.store.get(node, systemNamespace),
  };
  return (node) => reconcileNodeState(deps, node);
}

function createVolumes(shared: Shared, release: Release): VolumeWork {
  const { watches, leases, policies, queues } = shared;
  return createVolumeWork({
    ...shared,
    intents: watches.intents.store,
    nodes: watches.nodes.store,
    sameNode,
    onDue: (key) => queues.volumes.add(key),
    doubtForMs: (node) => {
      const agentsPolicy = policies.agentsPolicy();
      return doubtForMs({ ...leases.silence(node), agentsPolicy, mendsInMs: mendsInMs(shared.indexIntents) });
    },
    release,
  });
}

function createObserved(shared: Shared): Observe {
  const { watches, queues } = shared;
  return createObserve({
    ...shared,
    intents: watches.intents.store,
    nodes: watches.nodes.store,
    queue: () => queues.observed,
  });
}

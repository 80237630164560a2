import { resource, systemNamespace } from "../api/names.ts";
import type { KubeClient } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import type { EventRecorder } from "../kube/events/event-recorder.ts";
import { followPolicies } from "../kube/policies/follow-policies.ts";
import {
  type AcceptedPolicies,
  controllerSentence,
  lookAtPolicies,
  policyBindings,
} from "../kube/policies/policies.ts";
import { createPolicyWatch, type PolicyWatch } from "../kube/policies/policy-watch.ts";
import type { Cancel, System } from "../ports.ts";
import { createAgentTeller } from "./agents/agent-events.ts";
import type { AgentLeases } from "./agents/agent-leases.ts";
import type { Pods } from "./cache/pods.ts";
import type { Storage } from "./cache/storage.ts";
import type { Watches } from "./cache/watches.ts";
import type { Gatherer } from "./intents/gather.ts";
import { createWriting } from "./intents/pending-writes.ts";
import type { NodeInput } from "./intents/resolve-node.ts";
import type { Metrics } from "./metrics.ts";
import type { SetEntry } from "./model/projections.ts";
import type { Claim } from "./model/storage-objects.ts";
import { isGuarded } from "./model/volume-key.ts";
import { createObserve } from "./observe/observe.ts";
import { createRejectionEvents } from "./pods/rejection-events.ts";
import { createQueues } from "./queues/queues.ts";
import { type Queues, sameNode } from "./queues/triggers.ts";
import { createReadiness } from "./readiness/reconcile-readiness.ts";
import { reconcileAgent } from "./reconcilers/agent-reconciler.ts";
import { reconcileNode } from "./reconcilers/node-reconciler.ts";
import { reconcileNodeState } from "./reconcilers/node-state-reconciler.ts";
import { releaseIntent } from "./reconcilers/release-reconciler.ts";
import { reconcileSet, releaseSet } from "./reconcilers/set-reconciler.ts";
import { createVolumeWork } from "./reconcilers/volume-controller.ts";
import { awaitsRelease, doubtForMs, mendsInMs, settleMs } from "./release/decide-release.ts";
import { keyOfPod } from "./scheduling-gates/pod-reconciler.ts";
import { createPodWaits } from "./scheduling-gates/pod-waits.ts";
import type { FinalizerControllerDeps } from "./sets/finalizer-controller.ts";
import { createPodCount } from "./sets/pod-count.ts";

/** Dependencies of the leader's work. Watches and caches are shared with candidates that do not lead. */
export interface WorkDeps {
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
export interface Work {
  readonly queues: Queues;
  readonly finalizerControllerDeps: FinalizerControllerDeps;
  /** Reconciles every volume of CSI drivers. */
  allVolumes(): void;
  /** Claims of any PersistentVolume of a volume, by its key. */
  claimsOfVolume(key: string): Claim[];
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

/**
 * Wires the controller's caches, reconcilers and queues. `triggers.ts` fills the queues from the watches; each queue
 * below names the reconciler of its keys. The caller pauses the queues while another process leads.
 */
export function createWork(deps: WorkDeps): Work {
  const { system, client, recorder, watches, storage, gatherer, leases, metrics } = deps;
  const { clock, random, log } = system;
  const { sets, nodes, intents, states } = watches;
  const writing = createWriting((set) => queues.sets.add(set));
  /** By set, the nodes that the rollout has admitted. */
  const admitted = new Map<string, ReadonlySet<string>>();
  let onSet: (set: SetEntry) => Promise<void> = () => Promise.resolve();

  const hasNode = (name: string) => nodes.store.get(name) !== undefined;
  const upsert = (raw: unknown) => intents.upsertIfNewer(raw);
  const mayUpdate = (set: string, node: string) => admitted.get(set)?.has(node) === true;

  const rejections = createRejectionEvents(recorder, (pod) => queues.pods.add(keyOfPod(pod)));
  const notices = createRejectionEvents(recorder, () => {});
  const podCount = createPodCount({ clock, pods: deps.pods, intentsOf: gatherer.intentsOf });
  const nodeDeps = { rejections, notices, client, random, log, gatherer, leases, writing, upsert, mayUpdate };
  const state = (node: string) => states.store.get(node);
  const upsertState = (raw: unknown) => states.upsertIfNewer(raw);
  const saidLost = new Set<string>();
  const uidOfNode = (name: string) => nodes.store.get(name)?.metadata.uid;
  const uidOfState = (name: string) => state(name)?.metadata.uid;
  const teller = createAgentTeller({ recorder, clock, leases, uidOfNode, uidOfState });
  const agentDeps = { client, clock, log, gatherer, leases, hasNode, upsert, state, upsertState, saidLost, teller };
  const setDeps = {
    client,
    clock,
    log,
    recorder,
    gatherer,
    writing,
    hasNode,
    podCount,
    unguarded: () => policies.missing,
    later: (set: string, ms: number) => queues.sets.addAfter(set, ms),
    upsert: (raw: unknown) => sets.upsertIfNewer(raw),
    admit(set: string, nodesOfSet: ReadonlySet<string>) {
      admitted.set(set, nodesOfSet);
      for (const node of nodesOfSet) queues.nodes.add(node);
    },
  };
  const releaseDeps = {
    client,
    log,
    recorder,
    node: (name: string) => nodes.store.get(name),
    silence: leases.silence,
    agentsPolicy: () => policies.agentsPolicy(),
    mendsInMs: mendsInMs(deps.indexIntents),
    sawLease: (raw: unknown) => watches.leases.upsertIfNewer(raw),
    uidOfSet: (name: string) => sets.store.get(name)?.metadata.uid,
  };
  const lease = (node: string) => watches.leases.store.get(node, systemNamespace);
  const { indexIntents } = deps;
  const { complete, intentsOf } = gatherer;
  const ofNode = { complete, state, hasNode, intentsOf, lease, leases };
  const stateDeps = { client, log, indexIntents, upsert: upsertState, ...ofNode };

  let cancelSettled: Cancel = () => {};
  const policies = createPolicyWatch({
    system,
    look: () => lookAtPolicies(client, policyBindings, deps.acceptedPolicies),
    follow: (changed) => followPolicies(deps, policyBindings, changed),
    sentence: controllerSentence,
    onChange() {
      for (const { metadata } of sets.store.list()) queues.sets.add(metadata.name);
    },
    onKnown() {
      // Acknowledgements that were not trusted are checked again.
      for (const intent of intents.store.list()) if (awaitsRelease(intent)) queues.releases.add(intent.metadata.name);
      volumes.all();
      cancelSettled();
      const { wrong, rightForMs } = policies.agentsPolicy();
      const leftMs = settleMs(releaseDeps.mendsInMs) - rightForMs;
      if (wrong !== undefined || leftMs <= 0) return;
      log.warn("acknowledgements of agents count again in a while", { ms: leftMs });
      cancelSettled = system.timers.after(leftMs, volumes.all);
    },
  });
  const showReadiness = createReadiness({ client, clock, log, gatherer, nodes });
  const podWaits = createPodWaits({ ...deps, refusals: rejections.of });

  const queues = createQueues(system, metrics, {
    async sets(name) {
      const set = sets.store.get(name);
      if (set === undefined) {
        admitted.delete(name);
        podCount.forget(name);
      } else await onSet(set);
    },
    async nodes(node) {
      const againInMs = await reconcileNode(nodeDeps, node);
      if (againInMs !== undefined) queues.nodes.addAfter(node, againInMs);
    },
    async releases(name) {
      const intent = intents.store.get(name);
      if (intent === undefined) return;
      // One queue for all that is done about a volume.
      if (isGuarded(intent.spec.source)) return queues.volumes.add(volumes.keyOf(intent));
      const decision = await releaseIntent(releaseDeps, intent);
      if (decision?.release === false && decision.checkAgainInMs !== undefined) {
        queues.releases.addAfter(name, decision.checkAgainInMs);
      }
    },
    async agents(node) {
      const againInMs = await reconcileAgent(agentDeps, node);
      if (againInMs !== undefined) queues.agents.addAfter(node, againInMs);
    },
    async states(node) {
      const againInMs = await reconcileNodeState(stateDeps, node);
      if (againInMs !== undefined) queues.states.addAfter(node, againInMs);
    },
    async readiness(node) {
      const againInMs = await showReadiness(node);
      if (againInMs !== undefined) queues.readiness.addAfter(node, againInMs);
    },
    async observed(node) {
      const againInMs = await observe.reconcile(node);
      if (againInMs !== undefined) queues.observed.addAfter(node, againInMs);
    },
    async pods(key) {
      const againInMs = await podWaits.reconcile(key);
      if (againInMs !== undefined) queues.pods.addAfter(key, againInMs);
    },
    async volumes(key) {
      const againInMs = await volumes.reconcile(key);
      if (againInMs !== undefined) queues.volumes.addAfter(key, againInMs);
    },
  });
  const volumes = createVolumeWork({
    system,
    client,
    recorder,
    storage,
    controllerAttachDetach: deps.controllerAttachDetach,
    gatherer,
    intents: intents.store,
    nodes: nodes.store,
    sameNode,
    upsertIntent: upsert,
    onDue: (key) => queues.volumes.add(key),
    doubtForMs: (node) =>
      doubtForMs({ ...leases.silence(node), agentsPolicy: policies.agentsPolicy(), mendsInMs: releaseDeps.mendsInMs }),
    async release(intent, attachments) {
      const decision = await releaseIntent({ ...releaseDeps, ...(attachments && { attachments }) }, intent);
      return decision?.release === false ? decision.checkAgainInMs : undefined;
    },
  });

  const observe = createObserve({
    system,
    client,
    observePods: deps.observePods,
    pods: deps.pods,
    storage,
    gatherer,
    intents: intents.store,
    nodes: nodes.store,
    upsertIntent: upsert,
    queue: () => queues.observed,
  });

  const waits = podWaits.connect(queues.pods);

  return {
    queues,
    allVolumes: volumes.all,
    claimsOfVolume: volumes.claims,
    allObserved: observe.all,
    allPods: waits.all,
    nodesWithout: rejections.nodesWithout,
    nodesRefused: rejections.nodesRefused,
    policies,
    async stop() {
      await policies.stop();
      cancelSettled();
      volumes.stop();
      observe.stop();
      waits.stop();
    },
    finalizerControllerDeps: {
      watchSets(handler) {
        onSet = handler;
      },
      async writeFinalizers({ metadata: { name, uid, resourceVersion } }, finalizers) {
        const ref = { name, uid, resourceVersion };
        const answer = await client.mergePatch(resource.sets, ref, { metadata: { finalizers } });
        // A set whose last finalizer was taken off is gone, which the watch will say.
        if (finalizers.length > 0) sets.upsertIfNewer(answer);
      },
      reconcile: (set) => reconcileSet(setDeps, set),
      release: (set) => releaseSet(setDeps, set),
    },
    async pause() {
      admitted.clear();
      await Promise.all(Object.values(queues).map((queue) => queue.pause()));
    },
    resume(unbroken) {
      if (!unbroken) volumes.begin();
      for (const queue of Object.values(queues)) queue.resume();
      // What was being written when the work was paused may have been applied since.
      for (const node of writing.nodes()) queues.nodes.add(node);
    },
  };
}

import type { Registry } from "prom-client";
import { fieldManager, systemNamespace } from "../api/names.ts";
import { countedState, countedStatus } from "../api/status-values.ts";
import { messageOf } from "../errors.ts";
import { createKubeClient, type KubeClient } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import { createEventRecorder, type EventRecorder } from "../kube/events/event-recorder.ts";
import type { AcceptedPolicies } from "../kube/policies/policies.ts";
import type { System } from "../ports.ts";
import { type AgentLeases, agentState, createAgentLeases } from "./agents/agent-leases.ts";
import { createPods, type Pods } from "./cache/pods.ts";
import { createStorage, needStorage, type Storage } from "./cache/storage.ts";
import { allOf, createWatches, storesOf, type Watches } from "./cache/watches.ts";
import { type Controllers, createControllers } from "./controllers.ts";
import { createGatherer, type Gatherer } from "./intents/gather.ts";
import { Leadership, type LeaderWork } from "./leadership.ts";
import { createMetrics, type MetricSources, type Metrics, registerGauges } from "./metrics.ts";
import type { ClusterView } from "./page/page.ts";
import { nodePodsOf } from "./pods/node-pods.ts";
import { connectConsents, consentOf } from "./queues/connect-consents.ts";
import { connectPods } from "./queues/pod-triggers.ts";
import { connectTriggers } from "./queues/triggers.ts";
import { type CreateFinalizerController, createFinalizerController } from "./sets/finalizer-controller.ts";
import { countAll, countBy } from "./util/count-by.ts";

/** Dependencies of the controller, as ports: the simulator starts the same controller on fakes. */
export interface ControllerDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly config: {
    readonly identity: string;
    readonly allowedPrefixes: readonly string[];
    /** True if not given. */
    readonly controllerAttachDetach?: boolean;
    /** None if not given. */
    readonly observePods?: "None" | "PersistentVolumes";
    /** False if not given. */
    readonly indexIntents?: boolean;
    /** None if not given. */
    readonly acceptedPolicies?: AcceptedPolicies;
  };
  readonly registry: Registry;
  /**
   * Looks whether the admission policies are in force, says if they are not, and believes no agent without that of the
   * agents.
   */
  readonly watchPolicies?: boolean;
  /** What drives the life of sets; without it a plain one that does the same as the operator's. */
  readonly createFinalizerController?: CreateFinalizerController;
}

/** A running controller: the handle that the process's role and the page use. */
export interface Controller {
  /** What is known, also while another leads, for the page. */
  readonly view: ClusterView;
  /** Stops all work, waits for what is under way, and gives the leader's Lease back. */
  stop(): Promise<void>;
  /** Whether all is there that it works by: a candidate that does not lead is ready, too. */
  ready(): boolean;
  /** Which caches are not filled yet, and why, or which admission policies refuse nothing; undefined if none. */
  notReady(): string | undefined;
  /** A remark although it is ready: admission policies that are not those of this version. */
  remark(): string | undefined;
}

/** Milliseconds that writing Events may take at the end: they are for people, and the next leader waits. */
const flushMs = 1_000;

/**
 * Wires the controller and starts it. Data flows one way:
 *
 *   watches ► stores ► triggers ► queues ► gather ► resolve, roll out, compile (pure) ► write what differs ► stores
 */
export function startController(deps: ControllerDeps): Controller {
  const { system, transport, config } = deps;
  const metrics = createMetrics(deps.registry);
  const caches = createCaches(deps, metrics);
  const leadership = new Leadership({ system, transport, identity: config.identity });
  const writers = createWriters(deps, metrics, leadership);
  const parts: Parts = { ...caches, ...writers, ...createReconcilers(deps, metrics, caches, writers) };
  const triggers = connectWatches(deps, parts);
  registerGauges(deps.registry, metricSources(parts, leadership));

  const { watches, storage, pods, gatherer, leases, controllers, client, recorder } = parts;
  const finalizerController = (deps.createFinalizerController ?? createFinalizerController)(
    controllers.finalizerControllerDeps,
  );
  const work: LeaderWork = {
    resync: () => Promise.all(allOf(watches).map((watch) => watch.resync())),
    pause: controllers.pause,
    begin(unbroken) {
      controllers.resume(unbroken);
      triggers.all();
      // Nobody else waits for these: a cluster where they cannot be read has all its other volumes.
      storage.lead(triggers.storageKnown, unbroken);
      pods.lead(triggers.podsKnown, unbroken);
    },
    end() {
      storage.follow();
      pods.follow();
      void controllers.pause();
    },
  };

  void controllers.pause();
  for (const watch of allOf(watches)) watch.start();
  pods.start();
  if (deps.watchPolicies) controllers.policies.start();
  begin().catch((error: unknown) => {
    system.log.debug("stopped before the caches were filled", { error: messageOf(error) });
  });

  async function begin(): Promise<void> {
    await finalizerController.start();
    await Promise.all(allOf(watches).map((watch) => watch.synced()));
    const { sets, nodes, intents } = parts.stores;
    system.log.info("caches filled", { sets: sets.size, nodes: nodes.size, intents: intents.size });
    leadership.start(work);
  }

  function notReady(): string | undefined {
    const missing = allOf(watches).flatMap((watch) => watch.notSynced() ?? []);
    return missing.length === 0 ? controllers.policies.gone : `caches are not filled yet: ${missing.join("; ")}`;
  }

  return {
    view: { watches, gatherer, leases, client },
    ready: () => notReady() === undefined,
    notReady,
    remark: () => controllers.policies.missing,
    async stop() {
      leadership.close();
      finalizerController.stop();
      triggers.stop();
      await Promise.all(Object.values(controllers.queues).map((queue) => queue.stop()));
      await flushEvents(system, recorder);
      recorder.stop();
      await leadership.stop();
      for (const watch of allOf(watches)) watch.stop();
      await controllers.stop();
      for (const part of [storage, pods, leases, gatherer]) part.stop();
    },
  };
}

/** What is watched, also while another process leads. */
interface Caches {
  readonly watches: Watches;
  readonly stores: ReturnType<typeof storesOf>;
  readonly storage: Storage;
  readonly pods: Pods;
}

/** What the leader writes with. */
interface Writers {
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
}

/** All that the controller is made of, but for what fills its queues. */
interface Parts extends Caches, Writers {
  readonly gatherer: Gatherer;
  readonly leases: AgentLeases;
  readonly controllers: Controllers;
}

function createCaches({ system, transport }: ControllerDeps, { watchRestarted }: Metrics): Caches {
  const reading = { system, transport, onRestart: watchRestarted };
  const watches = createWatches(reading);
  return { watches, stores: storesOf(watches), storage: createStorage(reading), pods: createPods(reading) };
}

function createWriters({ system, transport }: ControllerDeps, metrics: Metrics, leadership: Leadership): Writers {
  const client = createKubeClient({
    transport,
    fieldManager: fieldManager.controller,
    onWrite: metrics.wrote,
    beforeWrite() {
      const remainingMs = leadership.writeMs();
      if (remainingMs <= 0) throw new Error("this process does not lead");
      // No write of ours may be under way when another can lead.
      return { timeoutMs: Math.min(remainingMs, 30_000) };
    },
  });
  const component = fieldManager.controller;
  return { client, recorder: createEventRecorder({ system, client, component, onDrop: metrics.eventDropped }) };
}

function createReconcilers(deps: ControllerDeps, metrics: Metrics, caches: Caches, writers: Writers) {
  const { system, transport, config } = deps;
  const { watches, stores, storage, pods } = caches;
  const { allowedPrefixes, controllerAttachDetach = true, observePods = "None", indexIntents = false } = config;
  const podsOf = (node: string) => nodePodsOf(pods, storage, node);
  // Which claims a volume has is known to the reconciler of volumes, which gathers intents by what is made here.
  const consent = consentOf(storage, (key) => controllers.claimsOfVolume(key));
  const gatherer = createGatherer(stores, { allowedPrefixes, podsOf, consent }, system);
  const leases = createAgentLeases({
    clock: system.clock,
    leases: stores.leases,
    nodes: stores.nodes,
    namespace: systemNamespace,
  });
  const controllers: Controllers = createControllers({
    ...{ system, ...writers, transport, watches, storage, pods, gatherer, consent, leases, metrics },
    acceptedPolicies: config.acceptedPolicies,
    ...{ controllerAttachDetach, observePods, indexIntents },
  });
  return { gatherer, leases, controllers };
}

/** Connects watches and queues. @returns what makes all of a kind due, when it has been read */
function connectWatches({ system, config }: ControllerDeps, parts: Parts) {
  const { stores, storage, pods, gatherer, controllers } = parts;
  const { queues, allVolumes, nodesWithout, nodesRefused } = controllers;
  const { yielder } = system;
  const allPods = () => {
    controllers.allObserved();
    controllers.allPods();
  };
  const { indexIntents = false } = config;
  const triggers = connectTriggers({ stores, gatherer, queues, yielder, indexIntents, allVolumes, allPods });
  const podTriggers = connectPods(pods, storage, nodesWithout, queues.nodes, yielder);
  const cancelConsents = connectConsents({ storage, sets: stores.sets, gatherer, queues, refused: nodesRefused });
  const cancelNeed = needStorage(storage, stores);
  return {
    all: triggers.all,
    storageKnown() {
      // Which sets the claims allow.
      gatherer.forgetAll();
      triggers.allNodes();
      podTriggers.claimsKnown();
      allVolumes();
      allPods();
    },
    podsKnown() {
      triggers.allNodes();
      allPods();
    },
    stop() {
      triggers.stop();
      podTriggers.stop();
      cancelConsents();
      cancelNeed();
    },
  };
}

function metricSources({ watches, pods, leases, controllers }: Parts, leadership: Leadership): MetricSources {
  const { sets, nodes, intents } = watches;
  return {
    intentsByState: () => countBy(intents.store.list(), ({ status }) => countedState(status.state)),
    sets: () => new Map([...sets.store.list()].map(({ metadata, status }) => [metadata.name, status])),
    pods: () => pods.pods.store.size,
    nodeReadiness: () =>
      countAll(nodes.store.list(), ({ readiness: { tainted, condition } }) => [
        ...(tainted ? ["tainted"] : []),
        ...(condition === undefined ? [] : [countedStatus(condition.status)]),
      ]),
    agentsByState: () => countBy(nodes.store.list(), ({ metadata }) => agentState(leases, metadata.name)),
    isLeader: () => leadership.isLeader(),
    policiesMissing: () => controllers.policies.missing !== undefined,
    queueDepths: () => new Map(Object.entries(controllers.queues).map(([name, queue]) => [name, queue.depth])),
  };
}

/** Writes the Events that are due, as far as they are written soon. */
async function flushEvents({ timers }: System, recorder: EventRecorder): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = timers.after(flushMs, resolve);
    void recorder.flush().then(() => {
      cancel();
      resolve();
    });
  });
}

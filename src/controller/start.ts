import type { Registry } from "prom-client";
import { fieldManager, leaderLease, systemNamespace } from "../api/names.ts";
import { countedState, countedStatus } from "../api/status-values.ts";
import { messageOf } from "../errors.ts";
import { createKubeClient } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import { createEventRecorder } from "../kube/events/event-recorder.ts";
import { createLeaderElection } from "../kube/leases/leader-election.ts";
import type { AcceptedPolicies } from "../kube/policies/policies.ts";
import type { System } from "../ports.ts";
import { agentState, createAgentLeases } from "./agents/agent-leases.ts";
import { createPods } from "./cache/pods.ts";
import { createStorage, needStorage } from "./cache/storage.ts";
import { allOf, createWatches, storesOf } from "./cache/watches.ts";
import { createWork } from "./controllers.ts";
import { createGatherer } from "./intents/gather.ts";
import type { Metrics } from "./metrics.ts";
import { createMetrics } from "./metrics.ts";
import type { ClusterView } from "./page/page.ts";
import { nodePodsOf } from "./pods/node-pods.ts";
import { connectConsents, consentOf } from "./queues/connect-consents.ts";
import { connectPods } from "./queues/pod-triggers.ts";
import { connectTriggers } from "./queues/triggers.ts";
import type { CreateFinalizerController } from "./sets/finalizer-controller.ts";
import { createFinalizerController } from "./sets/finalizer-controller.ts";
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

/** What Events may take at the end: they are for people, and the next leader waits. */
const lastWordsMs = 1_000;

/**
 * Wires the controller and starts it. Data flows one way:
 *
 *   watches ► stores ► triggers ► queues ► gather ► resolve, roll out, compile (pure) ► write what differs ► stores
 */
export function startController(deps: ControllerDeps): Controller {
  const { system, transport, config } = deps;
  const { clock, random, log } = system;
  // The metrics read from what is made below, and what is made below counts with them.
  const metrics: Metrics = createMetrics(deps.registry, {
    intentsByState: () => countBy(watches.intents.store.list(), ({ status }) => countedState(status.state)),
    sets: () => new Map([...watches.sets.store.list()].map(({ metadata, status }) => [metadata.name, status])),
    pods: () => pods.pods.store.size,
    nodeReadiness: () =>
      countAll(watches.nodes.store.list(), ({ readiness: { tainted, condition } }) => [
        ...(tainted ? ["tainted"] : []),
        ...(condition === undefined ? [] : [countedStatus(condition.status)]),
      ]),
    agentsByState: () => countBy(watches.nodes.store.list(), ({ metadata }) => agentState(leases, metadata.name)),
    isLeader: () => election.isLeader(),
    policiesMissing: () => work.policies.missing !== undefined,
    queueDepths: () => new Map(Object.entries(queues).map(([name, queue]) => [name, queue.depth])),
  });

  const reading = { system, transport, onRestart: metrics.watchRestarted };
  const watches = createWatches(reading);
  const storage = createStorage(reading);
  const pods = createPods(reading);
  const stores = storesOf(watches);

  const election = createLeaderElection({
    system,
    client: createKubeClient({ transport, fieldManager: fieldManager.controller }),
    namespace: systemNamespace,
    name: leaderLease,
    // Unique to this run: what its predecessor of the same name may still have under way is not ours.
    identity: `${config.identity}_${random.uuid()}`,
    onStarted: (unbroken) => void lead(unbroken),
    onStopped() {
      acting = false;
      storage.follow();
      pods.follow();
      void work.pause();
    },
  });
  const client = createKubeClient({
    transport,
    fieldManager: fieldManager.controller,
    onWrite: metrics.wrote,
    beforeWrite() {
      const remainingMs = acting ? election.remainingMs() : 0;
      if (remainingMs <= 0) throw new Error("this process does not lead");
      // No write of ours may be under way when another can lead.
      return { timeoutMs: Math.min(remainingMs, 30_000) };
    },
  });
  const recorder = createEventRecorder({
    system,
    client,
    component: fieldManager.controller,
    onDrop: metrics.eventDropped,
  });

  const { allowedPrefixes } = config;
  const podsOf = (node: string) => nodePodsOf(pods, storage, node);
  const consent = consentOf(storage, (key) => work.claimsOfVolume(key));
  const gatherer = createGatherer(stores, { allowedPrefixes, podsOf, consent }, system);
  const leases = createAgentLeases({ clock, leases: stores.leases, nodes: stores.nodes, namespace: systemNamespace });
  const { controllerAttachDetach = true, indexIntents = false } = config;
  const work = createWork({
    system,
    client,
    transport,
    acceptedPolicies: config.acceptedPolicies,
    recorder,
    watches,
    storage,
    pods,
    gatherer,
    consent,
    leases,
    metrics,
    controllerAttachDetach,
    observePods: config.observePods ?? "None",
    indexIntents,
  });
  const { queues } = work;
  const allPods = () => {
    work.allObserved();
    work.allPods();
  };
  const { allVolumes } = work;
  const { yielder } = system;
  const triggers = connectTriggers({ stores, gatherer, queues, yielder, indexIntents, allVolumes, allPods });
  const podTriggers = connectPods(pods, storage, work.nodesWithout, queues.nodes, system.yielder);
  const cancelConsents = connectConsents({ storage, sets: stores.sets, gatherer, queues, refused: work.nodesRefused });
  const needed = needStorage(storage, stores);
  const finalizerController = (deps.createFinalizerController ?? createFinalizerController)(
    work.finalizerControllerDeps,
  );

  let stopped = false;
  /** Counts how often the lease was won. */
  let term = 0;
  /**
   * Not from the loss of the lease until all was read again: what was begun in an earlier term must not write in this.
   */
  let acting = false;
  /** Everything was read since another led last. */
  let known = false;

  /**
   * Starts the work of a leader's term, once the caches hold what was read after the Lease was acquired: the leader
   * before may have written until then. The Lease may be lost and acquired again meanwhile; then the later term's call
   * continues, when nothing of the earlier one is under way.
   * @param unbroken no one else was the leader in between: all writes since then are in the watches, or our own
   *   (decision 0046)
   */
  async function lead(unbroken: boolean): Promise<void> {
    term += 1;
    const mine = term;
    const goesOn = unbroken && known;
    known = goesOn;
    try {
      if (!goesOn) await Promise.all(allOf(watches).map((watch) => watch.resync()));
      await work.pause();
    } catch (error) {
      log.debug("leading ended before it began", { error: messageOf(error) });
      return;
    }
    if (stopped || mine !== term || !election.isLeader()) return;
    known = true;
    acting = true;
    work.resume(goesOn);
    triggers.all();
    // Nobody else waits for these: a cluster where they cannot be read has all its other volumes.
    storage.lead(() => {
      // Which sets the claims allow.
      gatherer.forgetAll();
      triggers.allNodes();
      podTriggers.claimsKnown();
      allVolumes();
      allPods();
    }, goesOn);
    pods.lead(() => {
      triggers.allNodes();
      allPods();
    }, goesOn);
  }

  async function begin(): Promise<void> {
    await finalizerController.start();
    await Promise.all(allOf(watches).map((watch) => watch.synced()));
    log.info("caches filled", { sets: stores.sets.size, nodes: stores.nodes.size, intents: stores.intents.size });
    if (!stopped) election.start();
  }

  async function lastWords(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = system.timers.after(lastWordsMs, resolve);
      void recorder.flush().then(() => {
        cancel();
        resolve();
      });
    });
  }

  void work.pause();
  for (const watch of allOf(watches)) watch.start();
  pods.start();
  if (deps.watchPolicies) work.policies.start();
  begin().catch((error: unknown) => log.debug("stopped before the caches were filled", { error: messageOf(error) }));

  function notReady(): string | undefined {
    const missing = allOf(watches).flatMap((watch) => watch.notSynced() ?? []);
    return missing.length === 0 ? work.policies.gone : `caches are not filled yet: ${missing.join("; ")}`;
  }

  return {
    view: { watches, gatherer, leases, client },
    ready: () => notReady() === undefined,
    notReady,
    remark: () => work.policies.missing,
    async stop() {
      stopped = true;
      finalizerController.stop();
      triggers.stop();
      podTriggers.stop();
      cancelConsents();
      needed();
      await Promise.all(Object.values(queues).map((queue) => queue.stop()));
      await lastWords();
      recorder.stop();
      await election.stop();
      for (const watch of allOf(watches)) watch.stop();
      await work.stop();
      storage.stop();
      pods.stop();
      leases.stop();
      gatherer.stop();
    },
  };
}

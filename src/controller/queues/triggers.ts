import { leaderLease } from "../../api/names.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import type { Lease } from "../../kube/leases/lease.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Cancel, Yielder } from "../../ports.ts";
import { type Gatherer, type Stores, sameDemand } from "../intents/gather.ts";
import { indexEntry } from "../model/intent-index.ts";
import type { Intent, NodeInfo, SetEntry, StateEntry } from "../model/projections.ts";
import { requestersOf } from "../model/volume-identity.ts";
import type { VolumeKey } from "../model/volume-key.ts";
import { awaitsRelease } from "../release/decide-release.ts";

/** The controller's work queues. A key that is added twice while it waits is worked on once. */
export interface Queues {
  /** By name of the set: rollout, status, end of the set. */
  readonly sets: KeyedQueue;
  /** By name of the node: its intents. */
  readonly nodes: KeyedQueue;
  /** By name of the intent: the end of an intent. */
  readonly releases: KeyedQueue;
  /** By name of the node: whether its agent lives. */
  readonly agents: KeyedQueue;
  /** By name of the node: its NodeVolumeState, and the index in it. */
  readonly states: KeyedQueue;
  /** By name of the node: its condition NodeVolumesReady, and its taint. */
  readonly readiness: KeyedQueue;
  /** By name of the node: what is looked at of the claims that kubelet manages there. */
  readonly observed: KeyedQueue;
  /** By namespace and name: pods at scheduling gates of ours, and what pods show of their volumes. */
  readonly pods: KeyedQueue;
  /**
   * By driver and handle, or by intent while the volume is not known: volumes of CSI drivers, and disks that several
   * nodes reach.
   */
  readonly volumes: KeyedQueue<VolumeKey>;
}

/**
 * Milliseconds that a node waits after one of its intents has changed. All of its sets are weighed against each other
 * then, and a hundred volumes that come at once have a thousand changes.
 */
const changedDelayMs = 50;

/** The watched objects, and the queues that their changes fill. */
export interface TriggerDeps {
  readonly stores: Stores & { readonly leases: ObjectStore<Lease>; readonly states: ObjectStore<StateEntry> };
  readonly gatherer: Gatherer;
  readonly queues: Queues;
  readonly yielder: Yielder;
  /** Whether the state of a node has an index of its intents. */
  readonly indexIntents: boolean;
  /** Every volume of a CSI driver is looked at again. */
  readonly allVolumes: () => void;
  /** Every pod is looked at again that waits for volumes, or has such that are only observed. */
  readonly allPods: () => void;
}

/** The connection between watches and queues. */
export interface Triggers {
  /** Everything is looked at again. */
  all(): void;
  /** The intents of every node are looked at again, and the sets that they are of. */
  allNodes(): void;
  stop(): void;
}

/** Which change of which object makes which key due. A key too many costs a comparison; one too few is a bug. */
export function connectTriggers({ stores, gatherer, queues, yielder, ...deps }: TriggerDeps): Triggers {
  const sets = createFullResync(yielder, function* () {
    for (const { metadata } of stores.sets.list()) yield queues.sets.add(metadata.name);
  });
  const node = (name: string) => {
    queues.nodes.add(name);
    queues.states.add(name);
    queues.agents.add(name);
    queues.readiness.add(name);
    for (const intent of gatherer.intentsOf(name)) release(intent);
  };
  const release = (intent: Intent) => {
    if (awaitsRelease(intent)) queues.releases.add(intent.metadata.name);
  };

  const everything = createFullResync(yielder, function* () {
    for (const name of gatherer.nodeNames()) yield node(name);
    for (const { metadata } of stores.states.list()) yield queues.states.add(metadata.name);
    for (const lease of stores.leases.list()) yield agents.onLease(lease);
  });
  const nodes = createFullResync(yielder, function* () {
    for (const name of gatherer.nodeNames()) yield queues.nodes.add(name);
  });
  /** What a change of a set concerns: a conflict, and its end, concern the other sets of a node, too. */
  const demanded = createFullResync(yielder, function* () {
    for (const name of gatherer.nodeNames()) {
      queues.nodes.add(name);
      yield queues.readiness.add(name);
    }
  });

  const all = () => {
    everything.begin();
    sets.begin();
    deps.allVolumes();
  };

  const allNodes = () => {
    nodes.begin();
    sets.begin();
  };

  const onNode = ({ metadata }: NodeInfo) => {
    node(metadata.name);
    sets.begin();
  };

  // What came back after a gap is announced object by object; what was put off meanwhile is not.
  const onState = () => {
    if (!gatherer.complete()) return;
    all();
    deps.allPods();
  };

  const cancels: Cancel[] = [
    connectSets(stores.sets, queues.sets, onState, () => {
      demanded.begin();
      sets.begin();
    }),
    stores.nodes.subscribe({
      onAdd: onNode,
      onUpdate: (before, after) => {
        if (!sameNode(before, after)) onNode(after);
        else if (!sameJson(before.readiness, after.readiness)) queues.readiness.add(after.metadata.name);
      },
      onDelete: onNode,
      onState,
    }),
    connectIntents({ stores, queues, indexIntents: deps.indexIntents }, release, onState),
  ];
  const agents = connectAgents(stores, queues);

  return {
    all,
    allNodes,
    stop() {
      for (const resync of [everything, nodes, demanded, sets]) resync.stop();
      for (const cancel of [...cancels, ...agents.cancels]) cancel();
    },
  };
}

/** What makes a set due; `onDemand` is told of changes that concern other sets and nodes, too. */
function connectSets(
  sets: ObjectStore<SetEntry>,
  queue: KeyedQueue,
  onState: () => void,
  onDemand: () => void,
): Cancel {
  const onSet = ({ metadata }: SetEntry) => {
    queue.add(metadata.name);
    onDemand();
  };
  /** What somebody has just written does not wait for what may come together with it; what follows from it does. */
  const onWritten = (set: SetEntry) => {
    onSet(set);
    queue.addAfter(set.metadata.name, 0);
  };
  return sets.subscribe({
    onAdd: onWritten,
    onUpdate: (before, after) => {
      if (sameDemand(before, after)) queue.add(after.metadata.name);
      else if (isAnother(before, after)) onWritten(after);
      else onSet(after);
    },
    onDelete: onSet,
    onState,
  });
}

/** What an intent makes due: its sets, its node, its agent, the index of its node, its release. */
function connectIntents(
  { stores, queues, indexIntents }: Pick<TriggerDeps, "stores" | "queues" | "indexIntents">,
  release: (intent: Intent) => void,
  onState: () => void,
): Cancel {
  const onIntent = (intent: Intent) => {
    for (const set of requestersOf(intent)) queues.sets.add(set);
    queues.readiness.addAfter(intent.spec.nodeName, changedDelayMs);
    release(intent);
  };
  const onIntentCameOrWent = (intent: Intent) => {
    onIntent(intent);
    queues.nodes.add(intent.spec.nodeName);
    queues.agents.add(intent.spec.nodeName);
    queues.states.addAfter(intent.spec.nodeName, changedDelayMs);
  };
  return stores.intents.subscribe({
    onAdd: onIntentCameOrWent,
    onUpdate: (before, after) => {
      onIntent(after);
      queues.nodes.addAfter(after.spec.nodeName, changedDelayMs);
      for (const set of requestersOf(before)) queues.sets.add(set);
      if (before.status.agentState !== after.status.agentState) queues.agents.add(after.spec.nodeName);
      if (indexIntents && !sameJson(indexEntry(before), indexEntry(after)))
        queues.states.addAfter(after.spec.nodeName, changedDelayMs);
    },
    onDelete: onIntentCameOrWent,
    onState,
  });
}

/** What makes agents and their nodes' states due: Leases, and the states themselves. */
function connectAgents({ nodes, leases, states }: TriggerDeps["stores"], queues: Queues) {
  const onLease = ({ metadata: { name } }: Lease) => {
    if (name === leaderLease) return;
    queues.agents.add(name);
    // A Lease that outlived its Node.
    if (nodes.get(name) === undefined) queues.states.add(name);
  };
  const cancels: Cancel[] = [
    leases.subscribe({ onAdd: onLease, onUpdate: (_, after) => onLease(after), onDelete: onLease }),
    states.subscribe({
      onAdd({ metadata }) {
        queues.states.add(metadata.name);
        queues.agents.add(metadata.name);
      },
      onUpdate(before, { metadata, index }) {
        // Whatever was written there, a silent agent's last word comes late.
        queues.agents.add(metadata.name);
        if (before.index !== index) queues.states.add(metadata.name); // somebody may have taken the index away
      },
      onDelete: ({ metadata }) => queues.states.add(metadata.name),
    }),
  ];
  return { onLease, cancels };
}

/** Whether somebody wants something else; a finalizer that comes or goes is none of that. */
function isAnother({ metadata: a }: SetEntry, { metadata: b }: SetEntry): boolean {
  return a.uid !== b.uid || a.generation !== b.generation;
}

/** Heartbeats change a Node all the time, and nothing that is decided by; nor is what we show there ourselves. */
export function sameNode(a: NodeInfo, b: NodeInfo): boolean {
  const essence = ({ metadata, readiness: _, ...rest }: NodeInfo) => {
    const { resourceVersion: __, ...kept } = metadata;
    return { metadata: kept, ...rest };
  };
  return sameJson(essence(a), essence(b));
}

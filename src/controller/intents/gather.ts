import type { NodeVolumeSetSpec } from "../../api/types.gen.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { runYielding } from "../../kube/watch/yielding.ts";
import type { Cancel, System } from "../../ports.ts";
import type { NodeInput, SetOnNode } from "../model/node-input.ts";
import type { Intent, NodeInfo, SetEntry } from "../model/projections.ts";
import { type IntentName, labelledSets } from "../model/volume-identity.ts";
import { type SelectedNodes, selectedNodes } from "../nodes/select-nodes.ts";
import type { RolloutNode } from "../sets/rollout.ts";
import { resolveNode } from "./resolve-node.ts";

/** The caches that intents are compiled from. */
export interface Stores {
  readonly sets: ObjectStore<SetEntry>;
  readonly nodes: ObjectStore<NodeInfo>;
  readonly intents: ObjectStore<Intent>;
}

/**
 * The watched objects as the input of decisions. Reads only from memory; what is worked out for a node is kept until
 * something about it changes.
 */
export interface Gatherer {
  /**
   * Whether all that decisions rest on was read completely and arrives now. Without that nothing is taken away from
   * anybody (law L8), and nothing is given, because that may depend on what is not seen.
   */
  complete(): boolean;
  /** Names of all Nodes, and of nodes that have intents without one. */
  nodeNames(): Set<string>;
  input(node: string): NodeInput;
  /** Works out what has changed for every node, in turns, so that what follows is quick. */
  prepare(): Promise<void>;
  setsOnNode(node: string): ReadonlyMap<string, SetOnNode>;
  /** The nodes where a set wants or has something. */
  nodesOf(set: string): RolloutNode[];
  /** Whether a set selects any Node, also one that has no mounts. */
  selectedNodes(spec: NodeVolumeSetSpec): SelectedNodes;
  /** The intents of a node, also those that are being deleted. */
  intentsOf(node: string): Intent[];
  /** Intents that carry the label of a set, also those that are being deleted. */
  intentsOfSet(set: string): Intent[];
  /** Works out anew what the nodes are to have where these sets want or have something. @returns these nodes */
  forgetNodesOf(sets: readonly string[]): string[];
  /** The same of all nodes. */
  forgetAll(): void;
  /** Remembers why the API server refused a write of an intent; undefined when one was taken. */
  refused(node: string, intent: IntentName, message: string | undefined): void;
  /** What nobody wants to write any more is not refused any more. */
  forgetRefusals(node: string, stillWanted: ReadonlySet<IntentName>): void;
  stop(): void;
}

/** Intents by name, in groups. */
type Groups = Map<string, Map<string, Intent>>;

function put(groups: Groups, key: string, intent: Intent): void {
  groups.set(key, (groups.get(key) ?? new Map<string, Intent>()).set(intent.metadata.name, intent));
}

function take(groups: Groups, key: string, { metadata }: Intent): void {
  const group = groups.get(key);
  group?.delete(metadata.name);
  if (group?.size === 0) groups.delete(key);
}

/** Indexes the intents of a store by node and by the labels of sets; each node is told of whose intents one changes. */
function indexIntents(intents: ObjectStore<Intent>, onChange: (node: string) => void) {
  const byNode: Groups = new Map();
  const bySet: Groups = new Map();
  function add(intent: Intent): void {
    const { nodeName } = intent.spec;
    put(byNode, nodeName, intent);
    for (const set of labelledSets(intent.metadata)) put(bySet, set, intent);
    onChange(nodeName);
  }
  function update(before: Intent, after: Intent): void {
    for (const set of labelledSets(before.metadata)) take(bySet, set, before);
    add(after);
  }
  function remove(intent: Intent): void {
    const { nodeName } = intent.spec;
    // Its last state may have other labels than what was known of it.
    const known = byNode.get(nodeName)?.get(intent.metadata.name) ?? intent;
    for (const set of labelledSets(known.metadata)) take(bySet, set, intent);
    take(byNode, nodeName, intent);
    onChange(nodeName);
  }
  return {
    ofNode: (node: string) => [...(byNode.get(node)?.values() ?? [])],
    ofSet: (set: string) => [...(bySet.get(set)?.values() ?? [])],
    nodes: () => byNode.keys(),
    cancel: intents.subscribe({ onAdd: add, onUpdate: update, onDelete: remove }),
  };
}

/** Why the API server refused writes, by node and intent; each node is told of whose refusals one changes. */
function createRefusals(onChange: (node: string) => void) {
  const byNode = new Map<string, ReadonlyMap<IntentName, string>>();
  function set(node: string, next: readonly (readonly [intent: IntentName, message: string])[]): void {
    const before = byNode.get(node);
    if (next.length === (before?.size ?? 0) && next.every(([name, message]) => before?.get(name) === message)) return;
    if (next.length === 0) byNode.delete(node);
    else byNode.set(node, new Map(next));
    onChange(node);
  }
  const of = (node: string): ReadonlyMap<IntentName, string> => byNode.get(node) ?? new Map();
  return {
    of,
    put(node: string, intent: IntentName, message: string | undefined) {
      const others = [...of(node)].filter(([name]) => name !== intent);
      set(node, message === undefined ? others : [...others, [intent, message]]);
    },
    keep(node: string, wanted: ReadonlySet<IntentName>) {
      const kept = [...of(node)].filter(([name]) => wanted.has(name));
      set(node, kept);
    },
  };
}

/** Forgets what was worked out for a Node that changes, or for all of them when a set does. */
function followDemand({ nodes, sets }: Stores, forget: (node: string) => void, forgetAll: () => void): Cancel[] {
  const onNode = ({ metadata }: NodeInfo) => forget(metadata.name);
  return [
    nodes.subscribe({ onAdd: onNode, onUpdate: (_, after) => onNode(after), onDelete: onNode }),
    sets.subscribe({
      onAdd: forgetAll,
      onUpdate: (before, after) => {
        if (!sameDemand(before, after)) forgetAll();
      },
      onDelete: forgetAll,
    }),
  ];
}

/** What decisions rest on beside sets, Nodes and intents. */
export interface Surroundings {
  readonly allowedPrefixes: readonly string[];
  readonly podsOf: (node: string) => NodeInput["pods"];
  readonly consent: NodeInput["consent"];
}

export function createGatherer(
  stores: Stores,
  { allowedPrefixes, podsOf, consent }: Surroundings,
  { yielder }: Pick<System, "yielder">,
): Gatherer {
  const resolved = new Map<string, ReadonlyMap<string, SetOnNode>>();
  const forget = (node: string) => void resolved.delete(node);
  const forgetAll = () => resolved.clear();
  const refusals = createRefusals(forget);
  const intents = indexIntents(stores.intents, forget);
  const cancels = [intents.cancel, ...followDemand(stores, forget, forgetAll)];

  const input = (name: string): NodeInput => ({
    name,
    node: stores.nodes.get(name),
    sets: [...stores.sets.list()],
    intents: intents.ofNode(name),
    allowedPrefixes,
    pods: podsOf(name),
    consent,
    refusals: refusals.of(name),
  });
  const setsOnNode = (node: string) => {
    const known = resolved.get(node) ?? resolveNode(input(node));
    resolved.set(node, known);
    return known;
  };
  const nodeNames = () =>
    new Set([...[...stores.nodes.list()].map(({ metadata }) => metadata.name), ...intents.nodes()]);
  function* resolveAll(): Generator<void> {
    for (const name of nodeNames()) {
      setsOnNode(name);
      yield;
    }
  }

  return {
    complete: () => [stores.sets, stores.nodes, stores.intents].every(isCurrent),
    nodeNames,
    input,
    setsOnNode,
    prepare: async () => runYielding(yielder, resolveAll()),
    nodesOf(set) {
      return [...nodeNames()].flatMap((node) => {
        const onNode = setsOnNode(node).get(set);
        return onNode === undefined ? [] : [{ node, onNode }];
      });
    },
    selectedNodes: (spec) => selectedNodes(spec, stores.nodes.list()),
    intentsOf: intents.ofNode,
    intentsOfSet: intents.ofSet,
    forgetNodesOf(sets) {
      const nodes = [...nodeNames()].filter((node) => sets.some((set) => setsOnNode(node).has(set)));
      for (const node of nodes) forget(node);
      return nodes;
    },
    forgetAll,
    refused: refusals.put,
    forgetRefusals: refusals.keep,
    stop() {
      for (const cancel of cancels) cancel();
    },
  };
}

/** Whether a store has read everything, and changes arrive now. */
function isCurrent(store: Pick<ObjectStore<Intent>, "state">): boolean {
  const { synced, connected } = store.state();
  return synced && connected;
}

/** Whether two versions of a set ask for the same: its status does not matter. */
export function sameDemand({ metadata: a }: SetEntry, { metadata: b }: SetEntry): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    (a.finalizers ?? []).join() === (b.finalizers ?? []).join()
  );
}

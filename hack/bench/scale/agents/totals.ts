import { resource } from "../../../../src/api/names.ts";
import type { NodeVolumeIntent, NodeVolumeState } from "../../../../src/api/types.gen.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { createKeyedQueue } from "../../../../src/kube/keyed-queue.ts";
import { mergeDiff } from "../../../../src/kube/merge-diff.ts";
import type { Reflector } from "../../../../src/kube/watch/reflector.ts";
import type { System } from "../../../../src/ports.ts";
import { agentBootID } from "../generator/bases.ts";

export interface TotalsDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly node: string;
  readonly states: Reflector<NodeVolumeState>;
  readonly intents: () => Iterable<NodeVolumeIntent>;
}

/** The status of the NodeVolumeState of the agent's node. */
export interface Totals {
  /** The intents of the node have changed: its totals may have. */
  changed(): void;
  stop(): void;
}

/**
 * As the agent's own reporter: at most once in this time, and not before what comes together has come, in milliseconds.
 */
const periodMs = 5_000;
const coalesceMs = 250;

/** Writes the totals of a node when they are others than its object says. */
export function writeTotals({ system, client, node, states, intents }: TotalsDeps): Totals {
  const queue = createKeyedQueue({ system, name: "node-state", concurrency: 1, run: write });
  let writtenAt = Number.NEGATIVE_INFINITY;

  async function write(): Promise<undefined> {
    const state = states.store.get(node);
    if (state === undefined) return;
    const { conditions: _, ...before } = state.status;
    const patch = mergeDiff(before, totalsOf([...intents()]));
    if (patch === undefined) return;
    writtenAt = system.clock.monotonic();
    const { uid, resourceVersion } = state.metadata;
    states.upsertIfNewer(await client.mergePatchStatus(resource.states, { name: node, uid, resourceVersion }, patch));
  }

  return {
    changed() {
      const sinceMs = system.clock.monotonic() - writtenAt;
      queue.addAfter(node, Math.max(coalesceMs, periodMs - sinceMs));
    },
    stop: () => void queue.stop(),
  };
}

/** PURE. What the product's nodeStateOf says of volumes that are all mounted. */
function totalsOf(intents: readonly NodeVolumeIntent[]): object {
  const inUse = intents.filter(({ status }) => status?.inUse === true).map(({ metadata }) => metadata.name);
  return {
    agent: { version: "bench", bootID: agentBootID, epoch: 1 },
    synced: true,
    volumes: intents.length,
    ready: inUse.length,
    waiting: 0,
    drifted: 0,
    inUse: inUse.length,
    volumesInUse: inUse.sort().slice(0, 200),
    orphaned: 0,
    orphans: [],
  };
}

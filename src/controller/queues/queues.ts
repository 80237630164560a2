import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import { createKeyedQueue } from "../../kube/keyed-queue.ts";
import type { System } from "../../ports.ts";
import type { Metrics } from "../metrics.ts";
import { StillInUse } from "../reconcilers/set-reconciler.ts";
import type { Queues } from "./triggers.ts";

type Runs = { readonly [name in keyof Queues]: (key: string) => Promise<void> };

/**
 * Status of a set is gathered from many intents: it need not be written for each of them. What somebody has written in
 * the set itself does not wait (triggers.ts).
 */
const setDelayMs = 100;

/** Pods come and go in groups, and what their claims wait for changes a few times at once. */
const observedDelayMs = 100;

/**
 * The controller's queues. Nodes, releases and states, where agents hear by these of their intents, are many and short;
 * the rest must not hold them up.
 */
export function createQueues(system: System, metrics: Metrics, runs: Runs): Queues {
  function queue(name: keyof Queues, concurrency: number, delayMs = 0): KeyedQueue {
    const created: KeyedQueue = createKeyedQueue({
      system,
      name,
      concurrency,
      delayMs,
      async run(key) {
        try {
          await runs[name](key);
        } catch (error) {
          // A set that still has something on a node has not failed.
          if (!(error instanceof StillInUse)) throw error;
          if (error.againInMs !== undefined) created.addAfter(key, error.againInMs);
        }
      },
      onRun: (result, durationMs) => metrics.reconciled(name, result, durationMs),
    });
    return created;
  }
  return {
    sets: queue("sets", 4, setDelayMs),
    nodes: queue("nodes", 16),
    releases: queue("releases", 16),
    agents: queue("agents", 4),
    states: queue("states", 16),
    readiness: queue("readiness", 4),
    observed: queue("observed", 8, observedDelayMs),
    pods: queue("pods", 8),
    volumes: queue("volumes", 16),
  };
}

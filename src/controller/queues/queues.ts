import { createKeyedQueue, type KeyedQueue, type Reconcile, type RequeueAfter } from "../../kube/keyed-queue.ts";
import type { System } from "../../ports.ts";
import type { Queues } from "./triggers.ts";

/** What counts the runs of queues. */
export interface QueueMetrics {
  reconciled(queue: string, result: "success" | "failure", durationMs: number): void;
}

/** The reconciler of each queue, by the queue's name. */
export type Reconcilers = { readonly [name in keyof Queues]: Reconcile };

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
 * @param reconcile what is done for a key of the queue of that name
 */
export function createQueues(
  system: System,
  metrics: QueueMetrics,
  reconcile: (name: keyof Queues, key: string) => Promise<RequeueAfter | undefined>,
): Queues {
  function queue(name: keyof Queues, concurrency: number, delayMs = 0): KeyedQueue {
    return createKeyedQueue({
      system,
      name,
      concurrency,
      delayMs,
      run: (key) => reconcile(name, key),
      onRun: (result, durationMs) => metrics.reconciled(name, result, durationMs),
    });
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

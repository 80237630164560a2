import { finalizer } from "../../api/names.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { SetEntry } from "../model/projections.ts";

/** Why a set that is being deleted may not end yet. */
export interface StillInUse {
  readonly why: string;
  /** When it is asked again though none of its intents changes; undefined if only such a change can end it. */
  readonly requeueAfter?: RequeueAfter | undefined;
}

/** What a finalizer controller drives the life of sets with. */
export interface FinalizerControllerDeps {
  /**
   * Calls `onSet` for each set, and again after each change that concerns it: one call at a time for one set. A
   * rejected call is retried.
   */
  readonly watchSets: (onSet: (set: SetEntry) => Promise<RequeueAfter | undefined>) => void;
  /** Writes the finalizers of this very version of the set; rejects if it is no longer that. */
  readonly writeFinalizers: (set: SetEntry, finalizers: string[]) => Promise<void>;
  /** For a set that is in force and has our finalizer. */
  readonly reconcile: (set: SetEntry) => Promise<RequeueAfter | undefined>;
  /** For a set that is being deleted: what is left of it; undefined if nothing is, and its finalizer may go. */
  readonly release: (set: SetEntry) => Promise<StillInUse | undefined>;
}

/**
 * The life of a set: a finalizer before anything is written for it, and off again when nothing of it is left. The real
 * one is operator.ts; the one below does the same without the operator library.
 */
export interface FinalizerController {
  start(): Promise<void>;
  stop(): void;
}

/**
 * Makes the finalizer controller, which watches sets and keeps their finalizer: by `@dot-i/k8s-operator` or, in tests,
 * without it.
 */
export type CreateFinalizerController = (deps: FinalizerControllerDeps) => FinalizerController;

/** The next change of a set's finalizer. */
export type FinalizerStep = "add" | "release" | "nothing";

/** PURE. The next change of a set's finalizer. */
export function decideFinalizer({ metadata }: Pick<SetEntry, "metadata">): FinalizerStep {
  const has = (metadata.finalizers ?? []).includes(finalizer.unmount);
  if (metadata.deletionTimestamp !== undefined) return has ? "release" : "nothing";
  return has ? "nothing" : "add";
}

/** The finalizer controller without `@dot-i/k8s-operator`, for the simulator and tests. */
export const createFinalizerController: CreateFinalizerController = (deps) => ({
  start() {
    deps.watchSets(async (set) => {
      const finalizers = set.metadata.finalizers ?? [];
      switch (decideFinalizer(set)) {
        case "add":
          await deps.writeFinalizers(set, [...finalizers, finalizer.unmount]);
          return undefined;
        case "release": {
          const stillInUse = await deps.release(set);
          if (stillInUse !== undefined) return stillInUse.requeueAfter;
          const others = finalizers.filter((name) => name !== finalizer.unmount);
          await deps.writeFinalizers(set, others);
          return undefined;
        }
        case "nothing":
          return set.metadata.deletionTimestamp === undefined ? deps.reconcile(set) : undefined;
      }
    });
    return Promise.resolve();
  },
  stop() {},
});

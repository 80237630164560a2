import { finalizer } from "../../api/names.ts";
import type { SetEntry } from "../model/projections.ts";

/** What a finalizer controller drives the life of sets with. */
export interface FinalizerControllerDeps {
  /**
   * Calls `onSet` for each set, and again after each change that concerns it: one call at a time for one set. A
   * rejected call is retried.
   */
  readonly watchSets: (onSet: (set: SetEntry) => Promise<void>) => void;
  /** Writes the finalizers of this very version of the set; rejects if it is no longer that. */
  readonly writeFinalizers: (set: SetEntry, finalizers: string[]) => Promise<void>;
  /** For a set that is in force and has our finalizer. */
  readonly reconcile: (set: SetEntry) => Promise<void>;
  /** For a set that is being deleted: resolves when nothing of it is left, rejects until then. */
  readonly release: (set: SetEntry) => Promise<void>;
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
          return deps.writeFinalizers(set, [...finalizers, finalizer.unmount]);
        case "release":
          await deps.release(set);
          return deps.writeFinalizers(
            set,
            finalizers.filter((name) => name !== finalizer.unmount),
          );
        case "nothing":
          return set.metadata.deletionTimestamp === undefined ? deps.reconcile(set) : undefined;
      }
    });
    return Promise.resolve();
  },
  stop() {},
});

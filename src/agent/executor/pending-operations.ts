import { messageOf } from "../../errors.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { Logger } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { SlowCall, StuckOperation } from "../model/blocked.ts";
import type { Begun, Operation, OperationKind } from "../model/operation.ts";
import type { PlanInput } from "../model/plan-input.ts";
import { withoutChild } from "../model/volume-record.ts";
import type { OwnershipChange } from "./fsgroup-progress.ts";
import type { OperationExecutor } from "./operation-executor.ts";

/**
 * Where the pending operations of a volume are found: those of this process, and children of earlier ones in the
 * journal.
 */
export interface PendingOperationsDeps {
  readonly journal: Journal;
  readonly executor: OperationExecutor;
  readonly evidence: HostPorts["evidence"];
  readonly log: Logger;
}

/** An operation that has ended. */
type Ended = Begun & { readonly volume: string };

/**
 * Pending operations: those that run, and abandoned ones that may still take effect (safety rule 8). A volume with one
 * gets no other operation (law L4).
 */
export class PendingOperations {
  readonly #deps: PendingOperationsDeps;
  readonly #running = new Map<string, OperationKind>();
  readonly #begun = new Map<string, Begun>();
  #ended: Ended[] = [];

  constructor(deps: PendingOperationsDeps) {
    this.#deps = deps;
  }

  /** Operations that run now. */
  get running(): ReadonlyMap<string, OperationKind> {
    return this.#running;
  }

  /** When each of them has begun, in milliseconds of the monotonic clock. */
  *begun(): Iterable<number> {
    for (const { at } of this.#begun.values()) yield at;
  }

  begin(operation: Operation, generation: number, at: number): void {
    this.#running.set(operation.volume, operation.kind);
    this.#begun.set(operation.volume, { operation, generation, at });
  }

  end(volume: string): void {
    const begun = this.#begun.get(volume);
    if (begun !== undefined) this.#ended.push({ ...begun, volume });
    this.#running.delete(volume);
    this.#begun.delete(volume);
  }

  /** @returns what ends from now on, until this is called again; changed in place */
  ending(): readonly Ended[] {
    this.#ended = [];
    return this.#ended;
  }

  /**
   * Pending operations as the planner's input. The maps are changed in place when an operation begins or ends.
   * @param ended operations that count as pending, too
   */
  told(ended: readonly Ended[] = []): Required<Pick<PlanInput, "inFlight" | "begun">> {
    if (ended.length === 0) return { inFlight: this.#all(), begun: this.#begun };
    const all = this.#all();
    const inFlight = new Map(all);
    const begun = new Map(this.#begun);
    for (const { volume, ...operation } of ended) {
      if (!all.has(volume)) inFlight.set(volume, operation.operation.kind);
      if (!this.#begun.has(volume)) begun.set(volume, operation);
    }
    return { inFlight, begun };
  }

  #all(): ReadonlyMap<string, OperationKind> {
    const { journal, executor } = this.#deps;
    // As good as always: no copy of hundreds.
    if (journal.children.size + executor.observers.size === 0) return this.#running;
    const all = new Map(this.#running);
    for (const volume of journal.children.keys()) if (!all.has(volume)) all.set(volume, "stage");
    for (const volume of executor.observers.keys()) if (!all.has(volume)) all.set(volume, "observe");
    return all;
  }

  /** Slow and abandoned child processes, slow driver calls, and running fsGroup changes, by volume. */
  stuckOperations(): Map<string, StuckOperation | SlowCall | OwnershipChange> {
    const { journal, executor } = this.#deps;
    const hanging = new Map<string, StuckOperation | SlowCall | OwnershipChange>([
      ...executor.slowCalls,
      ...executor.ownershipChanges,
    ]);
    for (const [name, { pid }] of journal.children) {
      if (!this.#running.has(name)) hanging.set(name, { pid, abandoned: true });
    }
    for (const [name, { pid }] of executor.observers) {
      if (!this.#running.has(name)) hanging.set(name, { pid, abandoned: true });
    }
    for (const [name, { child, waitsFor }] of executor.slow) {
      hanging.set(name, { pid: child.pid, abandoned: false, ...(waitsFor && { waitsFor }) });
    }
    return hanging;
  }

  /** Number of abandoned child processes that may still run. */
  get abandoned(): number {
    const { journal, executor } = this.#deps;
    const hidden = [...journal.children.keys(), ...executor.observers.keys()];
    return new Set(hidden.filter((volume) => !this.#running.has(volume))).size;
  }

  abandonedChildren(): ChildProcessID[] {
    const { journal, executor } = this.#deps;
    const all = [...journal.children, ...executor.observers];
    return all.flatMap(([name, child]) => (this.#running.has(name) ? [] : child));
  }

  isFormatting(): boolean {
    const { records } = this.#deps.journal;
    return [...this.#running.keys()].some((volume) => records.get(volume)?.formatting !== undefined);
  }

  /** Removes child processes that have ended since. */
  async settle(): Promise<void> {
    await this.#forgetEndedChildren();
    await this.#forgetEndedObservers();
  }

  async #forgetEndedChildren(): Promise<void> {
    const { journal, evidence, log } = this.#deps;
    for (const [name, child] of [...journal.children]) {
      if (this.#running.has(name)) continue;
      try {
        if (await evidence.alive(child)) continue;
        // The record may have changed during the check. Only the child process that was checked is removed from it.
        const present = journal.records.get(name);
        if (present !== undefined && sameChild(present.child, child)) await journal.put(withoutChild(present));
      } catch (error) {
        // This volume stays pending and is checked again; the others are planned.
        log.error("an ended child was not forgotten", { intent: name, error: messageOf(error) });
      }
    }
  }

  async #forgetEndedObservers(): Promise<void> {
    const { executor, evidence } = this.#deps;
    for (const [volume, child] of [...executor.observers]) {
      if (this.#running.has(volume) || (await evidence.alive(child))) continue;
      if (executor.observers.get(volume) === child) executor.forgetObserver(volume);
    }
  }
}

function sameChild(a: ChildProcessID | undefined, b: ChildProcessID): boolean {
  return a?.pid === b.pid && a.startTime === b.startTime;
}

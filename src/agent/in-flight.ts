import { messageOf } from "../errors.ts";
import type { ChildProcessID, HostPorts } from "../host/ports.ts";
import type { Logger } from "../ports.ts";
import type { Executor } from "./execute.ts";
import type { Hanging, SlowCall } from "./hanging.ts";
import type { Journal } from "./journal.ts";
import type { OperationKind } from "./operations.ts";
import type { OwnershipChange } from "./ownership/ownership-changes.ts";
import { withoutChild } from "./record.ts";

export interface InFlightDeps {
  readonly journal: Journal;
  readonly executor: Executor;
  readonly evidence: HostPorts["evidence"];
  readonly log: Logger;
}

/** What runs, and what was abandoned and may still happen (safety rule 8): such a volume gets no operation (law L4). */
export class InFlight {
  readonly #deps: InFlightDeps;
  readonly #running = new Map<string, OperationKind>();
  readonly #begun = new Map<string, number>();

  constructor(deps: InFlightDeps) {
    this.#deps = deps;
  }

  /** Operations that run now. */
  get running(): ReadonlyMap<string, OperationKind> {
    return this.#running;
  }

  /** When each of them has begun, in milliseconds of the monotonic clock. */
  begun(): Iterable<number> {
    return this.#begun.values();
  }

  begin(volume: string, kind: OperationKind, now: number): void {
    this.#running.set(volume, kind);
    this.#begun.set(volume, now);
  }

  end(volume: string): void {
    this.#running.delete(volume);
    this.#begun.delete(volume);
  }

  /** By volume, as it is now: a copy. */
  all(): Map<string, OperationKind> {
    const all = new Map(this.#running);
    for (const volume of this.#deps.journal.children.keys()) if (!all.has(volume)) all.set(volume, "stage");
    for (const volume of this.#deps.executor.observers.keys()) {
      if (!all.has(volume)) all.set(volume, "observe");
    }
    return all;
  }

  /** Children that take long or were given up, drivers that take long, and files that are given to a group, by volume. */
  hanging(): Map<string, Hanging | SlowCall | OwnershipChange> {
    const { journal, executor } = this.#deps;
    const hanging = new Map<string, Hanging | SlowCall | OwnershipChange>([
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

  /** Children that were given up, and were not seen to end yet. */
  get abandoned(): number {
    return this.all().size - this.#running.size;
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

  /** Forgets the children that have ended since. */
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
        // Others wrote while this waited: only the child that was asked for goes from what stands there now.
        const present = journal.records.get(name);
        if (present !== undefined && sameChild(present.child, child)) await journal.put(withoutChild(present));
      } catch (error) {
        // This volume stays in flight, and is asked for again; the others are planned.
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

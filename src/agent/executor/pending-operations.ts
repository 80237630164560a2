import { messageOf } from "../../errors.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { SlowChild } from "../../host/ports/servers.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { System } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { Desired } from "../model/desired.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import type { Begun, Operation, OperationKind } from "../model/operation.ts";
import type { OwnershipChange } from "../model/ownership-change.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { SlowCall, StuckOperation } from "../model/stuck-operation.ts";
import { withoutChild } from "../model/volume-record.ts";
import { OwnershipChanges, type RunningChange } from "./fsgroup-progress.ts";

/** The journal, which knows children of earlier runs of the agent, and how the end of a child process is seen. */
export interface PendingOperationsDeps {
  readonly system: Pick<System, "timers" | "log">;
  readonly journal: Journal;
  readonly evidence: HostPorts["evidence"];
  /** Called when an operation waits for something else than before, so that the status reports it. */
  onSlow?(): void;
}

/** An operation that has ended. */
type Ended = Begun & { readonly volume: VolumeName };

/** What an operation works on, and what it waits for, while the executor carries it out. */
export interface OperationProgress {
  readonly operation: Operation;
  /** Of a staging: aborted when nobody wants the volume any more. What is fetched for it may take hours. */
  readonly unwanted?: AbortController;
  /** Directory of its CSI volume: two intents must not share one. */
  directory?: string;
  /** A child process that takes long: until the next child. */
  slowChild?: SlowChild | undefined;
  /** A driver call that takes long. */
  slowCall?: SlowCall;
}

/**
 * Pending operations: those that run, and abandoned ones that may still take effect (safety rule 8). A volume with one
 * gets no other operation (law L4). This is the one place where they are registered: the loop begins and ends them, and
 * the executor keeps their progress here.
 */
export class PendingOperations {
  readonly #deps: PendingOperationsDeps;
  /** Operations of this process, from the loop's start of them to its handling of the result. */
  readonly #running = new Map<VolumeName, Begun>();
  /** Operations that the executor runs. */
  readonly #progress = new Map<VolumeName, OperationProgress>();
  /**
   * Child processes of observe operations: until the operation succeeds, or the child has ended. They are in no record,
   * because an observed volume has none, and they leave nothing behind if they hang.
   */
  readonly #observers = new Map<VolumeName, ChildProcessID>();
  readonly #changes: OwnershipChanges;
  #ended: Ended[] = [];

  constructor(deps: PendingOperationsDeps) {
    this.#deps = deps;
    this.#changes = new OwnershipChanges(deps.system.timers, () => deps.onSlow?.());
  }

  /** Operations that run now, by volume. The same map each time, changed in place. */
  get running(): ReadonlyMap<VolumeName, Begun> {
    return this.#running;
  }

  /** The kind of the operation of a volume that runs now; undefined if none does. */
  runs(volume: VolumeName): OperationKind | undefined {
    return this.#running.get(volume)?.operation.kind;
  }

  /** When each of them has begun, in milliseconds of the monotonic clock. */
  *begun(): Iterable<number> {
    for (const { at } of this.#running.values()) yield at;
  }

  begin(operation: Operation, generation: number, at: number): void {
    this.#running.set(operation.volume, { operation, generation, at });
  }

  end(volume: VolumeName): void {
    const begun = this.#running.get(volume);
    if (begun !== undefined) this.#ended.push({ ...begun, volume });
    this.#running.delete(volume);
  }

  /** @returns what ends from now on, until this is called again; changed in place */
  ending(): readonly Ended[] {
    this.#ended = [];
    return this.#ended;
  }

  /**
   * Pending operations as the planner's input.
   * @param ended operations that count as pending, too
   */
  told(ended: readonly Ended[] = []): Required<Pick<PlanInput, "pendingOperations" | "begun">> {
    const all = new Map<VolumeName, OperationKind>();
    for (const [volume, { operation }] of this.#running) all.set(volume, operation.kind);
    for (const volume of this.#deps.journal.children.keys()) if (!all.has(volume)) all.set(volume, "stage");
    for (const volume of this.#observers.keys()) if (!all.has(volume)) all.set(volume, "observe");
    if (ended.length === 0) return { pendingOperations: all, begun: this.#running };
    const begun = new Map(this.#running);
    for (const { volume, ...operation } of ended) {
      if (!all.has(volume)) all.set(volume, operation.operation.kind);
      if (!begun.has(volume)) begun.set(volume, operation);
    }
    return { pendingOperations: all, begun };
  }

  /** The executor runs an operation, until `carriedOut`. */
  carryOut(operation: Operation): OperationProgress {
    const progress = { operation, ...(operation.kind === "stage" && { unwanted: new AbortController() }) };
    this.#progress.set(operation.volume, progress);
    return progress;
  }

  carriedOut({ volume }: Operation): void {
    this.#progress.delete(volume);
  }

  /** What an operation waits for has changed. */
  isSlow(progress: OperationProgress, what: Pick<OperationProgress, "slowChild" | "slowCall">): void {
    Object.assign(progress, what);
    this.#deps.onSlow?.();
  }

  /** Whether an operation runs on a target. */
  isBusy(path: MountPath): boolean {
    return [...this.#progress.values()].some(({ operation }) => "path" in operation && operation.path === path);
  }

  /** The volume whose operation uses a directory of a CSI volume; undefined if none does. */
  volumeIn(directory: string): string | undefined {
    return [...this.#progress.values()].find((each) => each.directory === directory)?.operation.volume;
  }

  /** Files of a volume begin to be given to a group. */
  changesOwnership(volume: VolumeName, what: Omit<OwnershipChange, "entries">): RunningChange {
    return this.#changes.begin(volume, what);
  }

  /**
   * Ends long-running work that no intent needs any more: fsGroup changes, and stagings whose intent is deleted or
   * gone.
   * @param intents all intents of the node; one that is not understood changes nothing
   */
  endUnwanted(intents: ReadonlyMap<VolumeName, Desired>): void {
    this.#changes.endUnwanted(intents);
    for (const { operation, unwanted } of this.#progress.values()) {
      const intent = intents.get(operation.volume);
      if (intent === undefined || intent.deleting) unwanted?.abort();
    }
  }

  /** A child process that observes the source of a volume. */
  observes(volume: VolumeName, child: ChildProcessID): void {
    this.#observers.set(volume, child);
  }

  /** The child process of an observe operation has ended. */
  forgetObserver(volume: VolumeName): void {
    this.#observers.delete(volume);
  }

  /** Slow and abandoned child processes, slow driver calls, and running fsGroup changes, by volume. */
  stuckOperations(): Map<VolumeName, StuckOperation | SlowCall | OwnershipChange> {
    const stuck = new Map<VolumeName, StuckOperation | SlowCall | OwnershipChange>();
    for (const [volume, { slowCall }] of this.#progress) if (slowCall !== undefined) stuck.set(volume, slowCall);
    for (const [volume, change] of this.#changes.told) stuck.set(volume, change);
    for (const [volume, { pid }] of this.#abandoned()) stuck.set(volume, { pid, abandoned: true });
    for (const [volume, { slowChild }] of this.#progress) {
      if (slowChild === undefined) continue;
      const { child, waitsFor } = slowChild;
      stuck.set(volume, { pid: child.pid, abandoned: false, ...(waitsFor && { waitsFor }) });
    }
    return stuck;
  }

  /** Number of volumes with an abandoned child process that may still run. */
  get abandoned(): number {
    return new Set(this.#abandoned().map(([volume]) => volume)).size;
  }

  /** Abandoned child processes that may still run. */
  abandonedChildren(): ChildProcessID[] {
    return this.#abandoned().map(([, child]) => child);
  }

  /** Those of the journal, then those of observe operations. */
  #abandoned(): [VolumeName, ChildProcessID][] {
    const all = [...this.#deps.journal.children, ...this.#observers];
    return all.filter(([volume]) => !this.#running.has(volume));
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
    const { journal, evidence, system } = this.#deps;
    for (const [name, child] of [...journal.children]) {
      if (this.#running.has(name)) continue;
      try {
        if (await evidence.alive(child)) continue;
        // The record may have changed during the check. Only the child process that was checked is removed from it.
        const present = journal.records.get(name);
        if (present !== undefined && sameChild(present.child, child)) await journal.put(withoutChild(present));
      } catch (error) {
        // This volume stays pending and is checked again; the others are planned.
        system.log.error("an ended child was not forgotten", { intent: name, error: messageOf(error) });
      }
    }
  }

  async #forgetEndedObservers(): Promise<void> {
    const { evidence } = this.#deps;
    for (const [volume, child] of [...this.#observers]) {
      if (this.#running.has(volume) || (await evidence.alive(child))) continue;
      if (this.#observers.get(volume) === child) this.forgetObserver(volume);
    }
  }
}

function sameChild(a: ChildProcessID | undefined, b: ChildProcessID): boolean {
  return a?.pid === b.pid && a.startTime === b.startTime;
}

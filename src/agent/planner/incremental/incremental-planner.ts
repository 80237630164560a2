import { isDeepStrictEqual } from "node:util";
import type { MountTable } from "../../../host/mount-table/mount-table.ts";
import { isInvalid } from "../../model/desired.ts";
import type { Failures } from "../../model/failure.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { Operation } from "../../model/operation.ts";
import type { PlanInput } from "../../model/plan-input.ts";
import type { Plan, VolumePlan } from "../../model/volume-plan.ts";
import { PathOwners } from "../path-owners.ts";
import { planVolume } from "../plan-volume.ts";
import { MountDependencyIndex, mountDependenciesOf } from "./mount-dependencies.ts";
import { changedStuck, isSame, type PlannedFrom, plannedFrom } from "./plan-dependencies.ts";

/**
 * The incremental planner: only volumes with a changed input are replanned. Its result equals that of plan() in
 * test/lib/builders/plan-whole.ts, which is its specification (decision 0002). Why there is one: decision 0121.
 *
 * This file is the only door of its folder. What must hold, or plans become stale; test/laws compares this planner with
 * plan() after each of many changes, and mutants break what is compared here:
 *
 *  1. Nobody names what has changed. Intents, records, operations, observations and signals of health are compared by
 *     identity: a value in these maps is never changed in place, it is replaced. The maps may be changed in place.
 *  2. An input that planVolume() reads is in PlannedFrom, or in MountDependencies if it is read from a mount table, or
 *     makes the volume restless (isRestless), or is in isComparable. Failures and stuck operations are compared for
 *     themselves.
 *  3. A mount table names its changes since any earlier one (MountTable.changesSince), or says that it cannot; then
 *     everything is replanned.
 *  4. A plan depends on other volumes by PathOwners alone, which names the volumes that a change of claims matters to;
 *     and by mounts without a record, which make a volume restless.
 *  5. The time matters where `retryAt` says so, or to restless volumes.
 *  6. Whoever gets the plans gets each one: after an exception, forget() makes the next plan a plan of everything.
 *
 * A dependency that is missing here leaves a plan stale until recheck(), about five minutes later, which counts it.
 */
export class Planner {
  #input: PlanInput | undefined;
  #failures: Failures = new Map();
  readonly #volumes = new Map<VolumeName, VolumePlan>();
  readonly #known = new Map<VolumeName, PlannedFrom>();
  readonly #owners = new PathOwners();
  readonly #mountDependencies = new MountDependencyIndex();
  /**
   * Volumes whose plan also depends on the time, or on inputs that are not compared: they are replanned at each
   * iteration, or at the time given.
   */
  readonly #restless = new Map<VolumeName, number>();
  /** Volumes with more inputs than intent and record, as an operation or a content: they are compared each time. */
  readonly #compared = new Set<VolumeName>();
  /** Volumes with a step that may start: each plan lists it until it has started. */
  readonly #ready = new Set<VolumeName>();
  #recheck = false;

  plan(input: PlanInput): Plan {
    const stale = this.#stale(input);
    this.forget(); // should it throw
    this.#failures = new Map(input.failures);
    const changed = new Map<VolumeName, VolumePlan | undefined>();
    for (const name of stale) {
      changed.set(name, this.#volumes.get(name));
      this.#planAnew(name, input);
    }
    const unexplained = this.#recheck ? this.#planOthers(input, changed) : [];
    this.#recheck = false;
    this.#input = input;
    const operations: Operation[] = [];
    for (const name of this.#ready) {
      const operation = this.#volumes.get(name)?.operation;
      if (operation !== undefined) operations.push(operation);
    }
    const wakeAt = this.#wakeAt();
    return {
      synced: input.synced,
      volumes: this.#volumes,
      changed,
      operations,
      ...(unexplained.length > 0 && { unexplained }),
      ...(wakeAt !== undefined && { wakeAt }),
    };
  }

  /** Plans every volume next time. */
  forget(): void {
    this.#input = undefined;
  }

  /**
   * Replans every volume next time, and lists volumes whose plan was stale although no change had been reported
   * (`unexplained`). This heals the effects of a dependency that this class fails to track.
   */
  recheck(): void {
    this.#recheck = true;
  }

  /**
   * Replans the remaining volumes.
   * @returns those whose plan has changed
   */
  #planOthers(input: PlanInput, changed: Map<VolumeName, VolumePlan | undefined>): VolumeName[] {
    const all = this.#all(input);
    const found = new Set<VolumeName>(); // all of it is among those that are planned anew here
    for (const name of all) this.#compare(name, input, found);
    return [...all].filter((name) => {
      if (changed.has(name)) return false;
      const before = this.#volumes.get(name);
      const now = this.#planAnew(name, input);
      if (before !== undefined && isDeepStrictEqual(before, now)) {
        this.#volumes.set(name, before);
        return false;
      }
      changed.set(name, before);
      return true;
    });
  }

  #planAnew(name: VolumeName, input: PlanInput): VolumePlan | undefined {
    if (!this.#known.has(name)) {
      this.#volumes.delete(name);
      this.#mountDependencies.set(name, undefined);
      this.#restless.delete(name);
      this.#ready.delete(name);
      return undefined;
    }
    const volume = planVolume(name, input, this.#owners);
    this.#volumes.set(name, volume);
    this.#mountDependencies.set(name, mountDependenciesOf(volume, input));
    const due = isRestless(volume, input) ? Number.NEGATIVE_INFINITY : volume.retryAt;
    if (due === undefined) this.#restless.delete(name);
    else this.#restless.set(name, due);
    if (volume.operation === undefined) this.#ready.delete(name);
    else this.#ready.add(name);
    return volume;
  }

  /** The names of volumes whose plan may be another one now; those that are gone are among them. */
  #stale(input: PlanInput): Set<VolumeName> {
    const stale = new Set<VolumeName>();
    this.#compareInputs(input, stale);
    const before = this.#input;
    if (before === undefined || !isComparable(before, input)) return addAll(stale, this.#known.keys());
    for (const [name, due] of this.#restless) if (input.now >= due) stale.add(name);
    addAll(stale, changedStuck(before.stuckOperations, input.stuckOperations));
    this.#compareFailures(input, stale);
    const changes = changesOf(before.table, input.table);
    const onNode = changesOf(before.nodeTable, input.nodeTable);
    if (changes === undefined || onNode === undefined) return addAll(stale, this.#known.keys());
    for (const mount of changes) addAll(stale, this.#mountDependencies.of(mount));
    for (const mount of onNode) addAll(stale, this.#mountDependencies.onNode(mount));
    return stale;
  }

  /** Intents and records are compared of all volumes, all other inputs of those that have any, or had. */
  #compareInputs(input: PlanInput, stale: Set<VolumeName>): void {
    const { desired, records, pendingOperations, observed, health, unresponsive, ended, swaps, closingPods } = input;
    const names = new Set(this.#compared);
    for (const [name, known] of this.#known) {
      if (desired.get(name) !== known.desired || records.get(name) !== known.record) names.add(name);
    }
    for (const there of [desired, records])
      for (const name of there.keys()) if (!this.#known.has(name)) names.add(name);
    for (const seen of [pendingOperations, observed, health, unresponsive, ended, swaps]) {
      if (seen) addAll(names, seen.keys());
    }
    for (const path of closingPods ?? []) addAll(names, this.#owners.volumesOn(path));
    for (const name of names) this.#compare(name, input, stale);
  }

  #all({ desired, records }: PlanInput): Set<VolumeName> {
    return new Set([...this.#known.keys(), ...desired.keys(), ...records.keys()]);
  }

  #compare(name: VolumeName, input: PlanInput, stale: Set<VolumeName>): void {
    const known = this.#known.get(name);
    const now = plannedFrom(name, input);
    if (!isSame(known, now)) this.#learn(name, now, stale);
  }

  /** @param from undefined: the volume is gone */
  #learn(name: VolumeName, from: PlannedFrom | undefined, stale: Set<VolumeName>): void {
    stale.add(name);
    addAll(stale, this.#owners.set(name, from?.desired, from?.record));
    if (from === undefined) this.#known.delete(name);
    else this.#known.set(name, from);
    const { desired: _, record: __, ...others } = from ?? {};
    if (Object.values(others).every((part) => part === undefined)) this.#compared.delete(name);
    else this.#compared.add(name);
  }

  #compareFailures({ failures }: PlanInput, stale: Set<VolumeName>): void {
    for (const [name, now] of failures) if (this.#failures.get(name) !== now) this.#addFailed(name, stale);
    for (const name of this.#failures.keys()) if (!failures.has(name)) this.#addFailed(name, stale);
  }

  /** A failure may be of a volume that is gone. */
  #addFailed(name: VolumeName, stale: Set<VolumeName>): void {
    if (this.#known.has(name)) stale.add(name);
  }

  #wakeAt(): number | undefined {
    let wakeAt: number | undefined;
    for (const name of this.#restless.keys()) {
      const retryAt = this.#volumes.get(name)?.retryAt;
      if (retryAt !== undefined && (wakeAt === undefined || retryAt < wakeAt)) wakeAt = retryAt;
    }
    return wakeAt;
  }
}

/** Whether the inputs that all plans depend on are the same. */
function isComparable(before: PlanInput, { synced, mayHaveLost, settings }: PlanInput): boolean {
  return before.synced === synced && before.mayHaveLost === mayHaveLost && before.settings === settings;
}

function changesOf(before: MountTable | undefined, after: MountTable | undefined) {
  if (before === after) return [];
  return before === undefined ? undefined : after?.changesSince(before);
}

/**
 * Whether a plan depends on more than the compared inputs: on the time of an observation; on a mount without a record,
 * which is compared with the records of all volumes; or on a failed step, whose unmount mode depends on how long it has
 * failed.
 */
function isRestless({ desired, actualState, operation, failure }: VolumePlan, { table }: PlanInput): boolean {
  if (operation !== undefined && failure !== undefined) return true;
  const looked = desired !== undefined && !isInvalid(desired) && desired.mode === "Observe";
  if (looked && actualState.kubelet === undefined) return true;
  if (actualState.unread?.problem !== undefined) return true;
  return table !== undefined && actualState.targets.some(({ foreign }) => foreign !== undefined);
}

function addAll(to: Set<VolumeName>, names: Iterable<VolumeName>): Set<VolumeName> {
  for (const name of names) to.add(name);
  return to;
}

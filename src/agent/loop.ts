import { messageOf } from "../errors.ts";
import type { MountTable } from "../host/mount-table/mount-table.ts";
import type { HostPorts, MountTableSource } from "../host/ports/host-ports.ts";
import type { Cancel, System } from "../ports.ts";
import type { Backoff } from "./backoff/backoff.ts";
import type { OperationResult } from "./executor/log-operation.ts";
import type { OperationExecutor } from "./executor/operation-executor.ts";
import type { PendingOperations } from "./executor/pending-operations.ts";
import type { Journal } from "./journal/journal.ts";
import type { Desired } from "./model/desired.ts";
import type { VolumeName } from "./model/identities.ts";
import type { Begun, Operation, OperationKind } from "./model/operation.ts";
import type { Observation, PlanInput, PlanSettings } from "./model/plan-input.ts";
import { swapStates } from "./model/swap-states.ts";
import type { Plan, PlanListener } from "./model/volume-plan.ts";
import type { Planner } from "./planner/incremental/incremental-planner.ts";

/** How often the loop checks whether an abandoned child process has ended, in milliseconds. No event reports it. */
const childCheckMs = 5_000;
/**
 * How often the mount table is read without an event, in milliseconds. The kernel raises none when the file that a
 * mount shows is renamed or removed.
 */
const unwokenMs = 60_000;
/**
 * How often every volume is replanned without a change, in milliseconds, with a jitter of a quarter. A volume that the
 * incremental planner wrongly considers unchanged would otherwise keep its stale plan.
 */
const recheckMs = 300_000;
/** How long stop waits for what runs, and for an mkfs, in milliseconds: the DaemonSet's grace period is longer. */
const stopMs = 20_000;
/**
 * Milliseconds that `stop` waits while an mkfs runs: one that is killed has to begin again. The grace period of the
 * DaemonSet's pods is longer.
 */
export const stopFormatMs = 100_000;
/** Delay before the retry after the mount table could not be read, or the plan could not be made, in milliseconds. */
const unreadableMs = 1_000;

/** Desired state of world at one iteration of the loop. */
interface GatheredWorld {
  readonly volumes: ReadonlyMap<VolumeName, Desired>;
  readonly synced: boolean;
  readonly closingPods?: PlanInput["closingPods"];
  readonly tokens?: PlanInput["tokens"];
}

/**
 * Dependencies of the reconcile loop: its inputs, the planner, and the executor. Optional members are parts that a node
 * may lack.
 */
export interface LoopDeps {
  readonly system: System;
  readonly host: HostPorts;
  readonly journal: Journal;
  readonly executor: Pick<OperationExecutor, "run">;
  readonly operations: PendingOperations;
  readonly settings: PlanSettings;
  readonly backoff: Backoff;
  /** The planner. It is called once per iteration. */
  readonly planner: Pick<Planner, "plan" | "forget" | "recheck">;
  /**
   * Gathers the desired state of world, and starts watching the objects that intents name. `synced` is false until all
   * intents have been read.
   */
  gather(table: MountTable | undefined): GatheredWorld;
  readonly contents: PlanInput["contents"];
  /** Volume conditions as CSI drivers report them; absent if drivers are not polled. */
  health?(): NonNullable<PlanInput["health"]>;
  /** Volumes whose server is unresponsive; absent if servers are not probed. */
  unresponsive?(): NonNullable<PlanInput["unresponsive"]>;
  /** FUSE volumes whose client process has ended. */
  ended?(): NonNullable<PlanInput["ended"]>;
  readonly registered?: NonNullable<PlanInput["registered"]>;
  /** Observations by volume. An entry is removed when its volume is gone. */
  readonly observed: Map<VolumeName, Observation>;
  onOperation(operation: Operation, result: OperationResult): void;
}

/** Requests iterations of the loop, for parts that exist before the loop does. */
export class LoopTrigger {
  #loop: Pick<Loop, "trigger"> | undefined;

  /** Requests an iteration of the loop, once there is one. */
  readonly request = (): void => this.#loop?.trigger();

  connect(loop: Pick<Loop, "trigger">): void {
    this.#loop = loop;
  }
}

/**
 * The reconcile loop: gather, plan, act. It runs after each change of an intent, of the mount table or of a shown
 * object, after each operation, and when a retry is due. It is level-triggered: the cause of an iteration does not
 * matter.
 */
export class Loop {
  readonly #deps: LoopDeps;
  #again = false;
  #busy: Promise<void> | undefined;
  #wake: Cancel = () => {};
  #stopped = false;
  /** Time of the next full replan, in milliseconds of the monotonic clock. */
  #recheckAt: number | undefined;
  #onEnded: () => void = () => {};
  #listeners: readonly PlanListener[] = [];

  constructor(deps: LoopDeps) {
    this.#deps = deps;
  }

  /** Those that get each plan from now on, in this order. */
  follow(listeners: readonly PlanListener[]): void {
    this.#listeners = listeners;
  }

  /** Requests an iteration. Requests at the same time are coalesced into one. */
  trigger(): void {
    this.#again = true;
    if (this.#stopped) return;
    this.#busy ??= this.#run();
  }

  /**
   * Starts no more operations, and waits for running ones until `stopMs`, or `stopFormatMs` if one formats a disk.
   * After that, operations may be cut off at any point; every mount stays as it is (law L8).
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#busy;
    const { timers } = this.#deps.system;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEnded = () => {
      if (this.running.size === 0) resolve();
    };
    this.#onEnded();
    const cancels = [
      timers.after(stopMs, () => this.#deps.operations.isFormatting() || resolve()),
      timers.after(stopFormatMs, resolve),
    ];
    await promise;
    for (const cancel of cancels) cancel();
  }

  /** Operations that run now. */
  get running(): ReadonlyMap<VolumeName, Begun> {
    return this.#deps.operations.running;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      if (this.running.size >= crowd) await this.#deps.system.yielder.next();
      this.#again = false;
      try {
        await this.#look();
      } catch (error) {
        this.#deps.system.log.error("the plan could not be made", { error: messageOf(error) });
        this.#deps.planner.forget(); // a listener may not have got the plan
        this.#wakeAfter(unreadableMs);
      }
    }
    this.#busy = undefined;
  }

  async #look(): Promise<void> {
    const { system, settings, contents, observed, journal, backoff, planner, operations } = this.#deps;
    await operations.settle();
    // An operation that ends while the tables are read is newer than they are: it counts as pending, and has already
    // requested another iteration.
    const ended = operations.ending();
    const table = await this.#readTable(this.#deps.host.mountTable);
    // Read after the agent's own table: a mount that is in that table and not in this one is missing on the node, and
    // not merely newer.
    const { nodeTable: node } = this.#deps.host;
    const nodeTable = node === undefined || table === undefined ? undefined : await this.#readTable(node);
    const readable = table !== undefined && (node === undefined || nodeTable !== undefined);
    const { volumes, synced, closingPods, tokens } = this.#deps.gather(readable ? table : undefined);
    if (synced) operations.endUnwanted(volumes);
    const now = system.clock.monotonic();
    const swaps = swapStates(journal.records, this.#deps.host.swaps); // after what ends meanwhile counts as in flight
    this.#recheckIfDue(now);
    const result = planner.plan({
      desired: volumes,
      synced,
      records: journal.records,
      mayHaveLost: journal.mayHaveLost,
      table: readable ? table : undefined,
      ...(nodeTable && { nodeTable }),
      ...operations.told(ended),
      stuckOperations: operations.stuckOperations(),
      failures: backoff.failures,
      contents,
      observed,
      ...(this.#deps.health && { health: this.#deps.health() }),
      ...(this.#deps.unresponsive && { unresponsive: this.#deps.unresponsive() }),
      ...(this.#deps.ended && { ended: this.#deps.ended() }),
      ...(this.#deps.registered && { registered: this.#deps.registered }),
      swaps,
      ...(closingPods && { closingPods }),
      ...(tokens && { tokens }),
      settings,
      now,
      epoch: journal.epoch,
    });
    if (this.#stopped) return;
    this.#tellUnexplained(result);
    const begins = rateLimit(result.operations, operations.begun(), now);
    for (const operation of begins) this.#start(operation, volumes.get(operation.volume));
    backoff.keepOnly(result.volumes);
    for (const name of observed.keys()) if (!result.volumes.has(name)) observed.delete(name);
    const waits = result.wakeAt === undefined ? [] : [result.wakeAt - now];
    if (begins.length < result.operations.length) waits.push(paceMs);
    this.#schedule(waits, readable);
    for (const listener of this.#listeners) listener.planned(result, table);
  }

  #recheckIfDue(now: number): void {
    const { planner, system } = this.#deps;
    if (this.#recheckAt !== undefined && now < this.#recheckAt) return;
    if (this.#recheckAt !== undefined) planner.recheck();
    this.#recheckAt = now + recheckMs * (0.75 + system.random.next() / 2);
  }

  #tellUnexplained({ unexplained = [] }: Plan): void {
    if (unexplained.length === 0) return;
    const meta = { volumes: unexplained.length, first: unexplained[0] };
    this.#deps.system.log.warn(
      "plans were stale, and no changed input explains it; they are corrected now: please report this bug",
      meta,
    );
  }

  #start(operation: Operation, desired: Desired | undefined): void {
    const { backoff, operations, onOperation } = this.#deps;
    const { clock } = this.#deps.system;
    const generation = desired?.generation ?? this.#deps.journal.records.get(operation.volume)?.generation ?? 0;
    const startedAt = clock.monotonic();
    operations.begin(operation, generation, startedAt);
    void this.#deps.executor.run(operation, desired).then((error) => {
      operations.end(operation.volume);
      const failure = error && backoff.failed(operation, generation, error);
      if (failure === undefined) backoff.succeeded(operation);
      onOperation(operation, { failure, durationMs: clock.monotonic() - startedAt });
      this.#onEnded();
      this.trigger();
    });
  }

  async #readTable(source: MountTableSource): Promise<MountTable | undefined> {
    try {
      return await source.read();
    } catch (error) {
      this.#deps.system.log.error("the mount table could not be read", { error: messageOf(error) });
      return undefined;
    }
  }

  #schedule(waits: readonly number[], readable: boolean): void {
    const checks = [this.#deps.operations.abandoned > 0 ? childCheckMs : [], readable ? [] : unreadableMs].flat();
    this.#wakeAfter(Math.min(unwokenMs, ...waits, ...checks));
  }

  #wakeAfter(ms: number): void {
    this.#wake();
    this.#wake = this.#deps.system.timers.after(Math.max(0, ms), () => this.trigger());
  }
}

/** Operations that began within the last `paceMs`, at most. */
const mostAtOnce = 32;
/** Milliseconds for which an operation counts: one that the processor alone is needed for has ended by then. */
export const paceMs = 50;
/**
 * So many operations under way that what ends in one turn of the event loop becomes one look: each compares all that
 * are under way. With fewer a look is cheap, and begins at once.
 */
const crowd = 8;

/** First steps of a way that has more of them. */
const beginnings: ReadonlySet<OperationKind> = new Set(["stage", "unpublish"]);

/**
 * PURE. Which operations begin now, of those that may: not all of hundreds, so that the first volumes are ready when
 * half of the work is done and not when all of it is; volumes that are under way go before others. What waits for a
 * server or a disk holds nobody up: it counts for a moment only (law L4).
 * @param begun when each operation that runs has begun, in milliseconds of the monotonic clock
 */
export function rateLimit(
  operations: readonly Operation[],
  begun: Iterable<number>,
  now: number,
): readonly Operation[] {
  let room = mostAtOnce;
  for (const at of begun) if (now - at < paceMs) room -= 1;
  if (operations.length <= room) return operations;
  const onward: Operation[] = [];
  const others: Operation[] = [];
  for (const operation of operations) {
    const some = beginnings.has(operation.kind) ? others : onward;
    if (some.length < room) some.push(operation);
  }
  return [...onward, ...others].slice(0, Math.max(0, room));
}

import { resource } from "../../api/names.ts";
import type { MountStatus, NodeVolumeIntentStatus } from "../../api/types.gen.ts";
import { ApiError, isNotFound } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { createKeyedQueue, type KeyedQueue } from "../../kube/keyed-queue.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { System } from "../../ports.ts";
import type { IntentSource } from "../desired/intent-source.ts";
import type { IntentEntry } from "../desired/intents.ts";
import { type HealthChecks, refusalRemedy } from "../health/health-checks.ts";
import type { Plan, PlanListener, VolumePlan } from "../model/volume-plan.ts";
import { statusOf } from "./intent-status.ts";
import type { AgentStatus } from "./status-context.ts";
import { isReady, isTransientState, isUnderWay } from "./transient-states.ts";

/**
 * Dependencies of writing the status of intents. `agent` goes into each status, so that the controller can distinguish
 * runs of the agent.
 */
export interface ReporterDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly intents: Pick<IntentSource, "store" | "upsertIfNewer" | "onReached" | "doubt">;
  readonly agent: { readonly bootID: string; readonly epoch: number };
  readonly healthChecks: HealthChecks;
}

/** Changes within this time are coalesced into one write, except those that someone may wait for. */
const coalesceMs = 200;
/**
 * How long a transient state (Staging, Mounting, Updating, Unmounting, without a problem) must last before it is
 * written, in milliseconds. A node that sets up a thousand volumes would otherwise write each of them once more.
 */
const passingMs = 1_000;
const concurrency = 8;
/** Milliseconds without a write after which less urgent writes begin, so that none comes within a burst. */
const restMs = 200;
/**
 * A change of nothing but the count and the times of attempts is for people, and a volume that fails makes one with
 * each attempt: at most one in about this time, in milliseconds.
 */
const attemptsMs = 60_000;

/**
 * Keeps the status of each intent equal to the newest plan. Differences are computed against the object in the watch
 * cache, never against what was sent before (safety rule 5), and each write has the UID and resourceVersion that it was
 * computed from as precondition (rule 3).
 */
export class Reporter implements PlanListener {
  readonly #deps: ReporterDeps;
  readonly #queue: KeyedQueue;
  #volumes: ReadonlyMap<string, VolumePlan> = new Map();
  /** Generation for which the write of a status failed. */
  readonly #failed = new Map<string, number | undefined>();
  /** When a change of attempts alone may be written, by the monotonic clock. */
  readonly #quietUntil = new Map<string, number>();
  /** When the last write will have been a moment ago, by the monotonic clock. */
  #restAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
    this.#queue = createKeyedQueue({
      system: deps.system,
      name: "status",
      concurrency,
      patient: true,
      run: async (name) => {
        await this.#write(name);
      },
    });
    // Writes that failed because the API server was unreachable are retried at once.
    deps.intents.onReached(() => {
      this.#queue.resetBackoff();
      for (const name of this.#failed.keys()) this.#enqueue(name);
    });
    deps.intents.store.subscribe({
      // The plan was made for an older generation of the spec.
      onUpdate: (before, { desired }) => {
        if (before.desired === desired) this.#enqueue(desired.name);
      },
    });
  }

  planned({ volumes, changed }: Plan): void {
    this.#volumes = volumes;
    for (const name of changed.keys()) {
      if (volumes.has(name)) this.#enqueue(name);
      else {
        if (this.#failed.has(name)) this.#forget(name);
        this.#quietUntil.delete(name);
      }
    }
  }

  /** Resolves when every status that somebody waits for is written, or failed, and no other has come for a moment. */
  async settled(): Promise<void> {
    const { timers } = this.#deps.system;
    await this.#queue.settled();
    for (let restAt = this.#restAt; restAt > this.#now(); restAt = this.#restAt) {
      await new Promise<void>((resolve) => void timers.after(restAt - this.#now(), resolve));
      await this.#queue.settled();
    }
  }

  #enqueue(name: string): void {
    if (this.#isUnderWay(name)) {
      this.#queue.addAfter(name, passingMs);
      return;
    }
    const change = this.#change(name);
    if (change === undefined) return;
    if (this.#failed.has(name) && this.#failed.get(name) !== change.entry.metadata.generation) {
      this.#queue.resetBackoff(name); // another spec may succeed
    }
    const { status: before } = change.entry.raw;
    if (isWaitedFor(before, change.status)) this.#queue.add(name);
    else if (isTransientState(before, change.status)) this.#queue.addAfter(name, passingMs);
    else {
      const quietMs = isOfAttempts(change.patch) ? (this.#quietUntil.get(name) ?? 0) - this.#now() : 0;
      this.#queue.addAfter(name, Math.max(coalesceMs, quietMs));
    }
  }

  #isUnderWay(name: string): boolean {
    const volume = this.#volumes.get(name);
    const status = this.#deps.intents.store.get(name)?.raw.status;
    return volume !== undefined && status !== undefined && !this.#failed.has(name) && isUnderWay(status, volume);
  }

  #now(): number {
    return this.#deps.system.clock.monotonic();
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  /** PURE. The patch of the status of an intent; undefined if it is up to date. */
  #change(name: string): { entry: IntentEntry; status: AgentStatus; patch: object } | undefined {
    const entry = this.#deps.intents.store.get(name);
    const volume = this.#volumes.get(name);
    if (entry === undefined || volume?.desired === undefined) return undefined;
    if (volume.desired.uid !== entry.metadata.uid) return undefined; // planned for another object of this name
    if (volume.desired.generation !== entry.metadata.generation) return undefined; // not planned for this spec yet
    const context = { agent: this.#deps.agent, now: this.#deps.system.clock.now() };
    const status = statusOf(entry.raw, volume, context);
    const { attach: _attach, agentState: _agentState, ...ours } = entry.raw.status;
    const patch = mergeDiff(ours, { ...status });
    return patch && !isOfStart(ours, patch) ? { entry, status, patch } : undefined;
  }

  async #write(name: string): Promise<void> {
    const change = this.#change(name);
    if (change === undefined) return this.#forget(name);
    const { client, intents, healthChecks, system } = this.#deps;
    const { uid, resourceVersion, generation } = change.entry.metadata;
    try {
      this.#restAt = this.#now() + restMs;
      const written = await client.mergePatchStatus(resource.intents, { name, uid, resourceVersion }, change.patch);
      if (this.#volumes.has(name)) {
        this.#quietUntil.set(name, this.#now() + attemptsMs * (0.75 + system.random.next() / 2));
      }
      this.#forget(name);
      intents.upsertIfNewer(written);
    } catch (error) {
      if (!this.#volumes.has(name)) return this.#forget(name); // it is gone meanwhile, and its status with it
      this.#failed.set(name, generation);
      if (error instanceof ApiError && error.status === 403 && healthChecks.statusWrite(name, error.message)) {
        system.log.error("the agent is not allowed to write statuses", { remedy: refusalRemedy, error: error.message });
      }
      if (!isRefusal(error)) intents.doubt(name);
      // The object is another by now, or the answer was lost: read before it is written again.
      if (!(error instanceof ApiError) || error.status === 409 || error.status === 422) await this.#readAgain(name);
      if (!isNotFound(error)) throw error;
    }
  }

  #forget(name: string): void {
    this.#failed.delete(name);
    this.#deps.healthChecks.statusWrite(name, undefined);
  }

  async #readAgain(name: string): Promise<void> {
    const { client, intents } = this.#deps;
    try {
      const present = await client.get(resource.intents, { name });
      if (present !== undefined) intents.upsertIfNewer(present);
    } catch (error) {
      intents.doubt(name);
      throw error;
    }
  }
}

/** Whether the API server itself has refused the write. A 503 may come from a proxy, after the write was forwarded. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500;
}

/** Whether someone may wait for exactly this transition: the volume became ready, or was released. */
function isWaitedFor(before: NodeVolumeIntentStatus, after: AgentStatus): boolean {
  if (isReady(after)) return !isReady(before) && after.state !== "Updating"; // what does it ends in a moment
  return (
    after.inUse === false && (after.state === "Released" || after.state === "Retained") && before.state !== after.state
  );
}

/**
 * Whether a patch changes only the agent's epoch and the mount ids in its mount namespace. The reported state is
 * unchanged then, and a node with a thousand volumes would rewrite each of them at every restart (decision 0068).
 */
function isOfStart(before: Partial<NodeVolumeIntentStatus>, patch: object): boolean {
  const { agent, mounts = before.mounts, ...rest } = patch as Partial<NodeVolumeIntentStatus>;
  if (agent === undefined || !hasOnly(agent, ["epoch"]) || Object.keys(rest).length > 0) return false;
  return sameJson(withoutIDs(before.mounts), withoutIDs(mounts));
}

const withoutIDs = (mounts: readonly MountStatus[] = []) => mounts.map(({ mountID: _, ...mount }) => mount);

/** Whether a patch changes nothing but how often, and when, something was and will be tried. */
export function isOfAttempts(patch: object): boolean {
  const { waiting, lastError, agent, ...rest } = patch as { readonly [key: string]: unknown };
  const parts = [
    hasOnly(waiting, ["attempts", "nextRetryTime"]),
    hasOnly(lastError, ["time"]),
    hasOnly(agent, ["epoch"]),
  ];
  return Object.keys(rest).length === 0 && parts.every(Boolean);
}

function hasOnly(part: unknown, keys: readonly string[]): boolean {
  if (part === undefined) return true;
  return typeof part === "object" && part !== null && Object.keys(part).every((key) => keys.includes(key));
}

import { findCondition } from "../api/conditions.ts";
import { resource } from "../api/names.ts";
import type { NodeVolumeIntentStatus } from "../api/types.gen.ts";
import { ApiError } from "../kube/api-error.ts";
import type { KubeClient } from "../kube/client.ts";
import { createKeyedQueue, type KeyedQueue } from "../kube/keyed-queue.ts";
import { mergeDiff } from "../kube/merge-diff.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { System } from "../ports.ts";
import type { IntentEntry } from "./intents.ts";
import type { Plan, VolumePlan } from "./plan.ts";
import { type AgentStatus, statusOf } from "./status-of.ts";

export interface ReporterDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly intents: Reflector<IntentEntry>;
  readonly agent: { readonly bootID: string; readonly epoch: number };
}

/** Changes within this time are written as one, but for those that somebody waits for (design.md section 2). */
const coalesceMs = 200;
const concurrency = 8;

/**
 * Keeps the status of each intent equal to what the newest plan says. What has to be written is judged against the
 * object that the watch shows, never against what was sent before (safety rule 5), and each write carries the UID and
 * resourceVersion that it was computed from (rule 3).
 */
export class Reporter {
  readonly #deps: ReporterDeps;
  readonly #queue: KeyedQueue;
  #volumes: ReadonlyMap<string, VolumePlan> = new Map();

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
    this.#queue = createKeyedQueue({
      system: deps.system,
      name: "status",
      concurrency,
      run: (name) => this.#write(name),
    });
  }

  update(plan: Plan): void {
    this.#volumes = plan.volumes;
    for (const name of plan.volumes.keys()) {
      const change = this.#change(name);
      if (change === undefined) continue;
      if (isWaitedFor(change.entry.raw.status, change.status)) this.#queue.add(name);
      else this.#queue.addAfter(name, coalesceMs);
    }
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  /** What the status of an intent lacks; undefined if it is as it should be. */
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
    return patch && { entry, status, patch };
  }

  async #write(name: string): Promise<void> {
    const change = this.#change(name);
    if (change === undefined) return;
    const { client, intents } = this.#deps;
    const { uid, resourceVersion } = change.entry.metadata;
    try {
      const written = await client.mergePatchStatus(resource.intents, { name, uid, resourceVersion }, change.patch);
      intents.upsertIfNewer(written);
    } catch (error) {
      // The object is another by now, or the answer was lost: read before it is written again.
      if (!(error instanceof ApiError) || error.status === 409 || error.status === 422) await this.#readAgain(name);
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }

  async #readAgain(name: string): Promise<void> {
    const present = await this.#deps.client.get(resource.intents, { name });
    if (present !== undefined) this.#deps.intents.upsertIfNewer(present);
  }
}

/** Somebody may be waiting for exactly this: the volume became ready, or was released. */
function isWaitedFor(before: NodeVolumeIntentStatus, after: AgentStatus): boolean {
  const ready = findCondition(after.conditions, "Ready")?.status;
  if (ready === "True") return findCondition(before.conditions, "Ready")?.status !== "True";
  return (
    after.inUse === false && (after.state === "Released" || after.state === "Retained") && before.state !== after.state
  );
}

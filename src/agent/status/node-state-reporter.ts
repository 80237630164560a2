import { resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { NodeVolumeState, Orphan } from "../../api/types.gen.ts";
import { messageOf } from "../../errors.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import { ApiError } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { createKeyedQueue, type KeyedQueue } from "../../kube/keyed-queue.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import type { PolicyChange, PolicyFollower } from "../../kube/policies/follow-policies.ts";
import { type AcceptedPolicies, noneAccepted } from "../../kube/policies/policies.ts";
import { createPolicyWatch, type PolicyWatch } from "../../kube/policies/policy-watch.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import type { System } from "../../ports.ts";
import type { IntentSource } from "../desired/intent-source.ts";
import type { HealthChecks } from "../health/health-checks.ts";
import { inspectOwnPolicies } from "../health/own-policy.ts";
import type { Plan, PlanListener } from "../model/volume-plan.ts";
import { type NodeStateInput, nodeStateOf } from "./node-state-status.ts";

/** Dependencies of writing the status of the node's own NodeVolumeState. No other writer has that status. */
export interface NodeStateReporterDeps {
  readonly system: System;
  readonly client: KubeClient;
  /** The node's own state, which is watched from start() to stop(). */
  readonly states: Reflector<NodeVolumeState>;
  readonly nodeName: string;
  readonly settings: Pick<NodeStateInput, "stateDir" | "allowedPrefixes" | "csiDir" | "hostRoot" | "kubeletDir">;
  readonly agent: NodeStateInput["agent"];
  readonly healthChecks?: HealthChecks;
  readonly damage?: NodeStateInput["damage"];
  /** None if not given. */
  readonly acceptedPolicies?: AcceptedPolicies | undefined;
  synced(): boolean;
  /** Why the agent cannot watch its intents, if it cannot. */
  problem?: IntentSource["problem"];
  /** Makes what tells of changes of the policies; without it they are looked at from time to time. */
  followPolicies?(onChange: (change: PolicyChange) => void): PolicyFollower;
  /** Told when the policy that keeps agents apart is in force, and was not, or was exchanged, since the look before. */
  readonly onAgentsRight?: () => void;
  /** Tells people of the node. */
  event?(event: { readonly type: "Warning"; readonly reason: Reason; readonly message: string }): void;
  /** What kubelet has left on the node, and milliseconds after which that is to be read again. */
  leftovers?(plan: Plan): Promise<{ readonly orphans: readonly Orphan[]; readonly againInMs?: number }>;
  /** Of each plan, for that. */
  note?(plan: Plan): void;
}

/** The object is for people: it is written at most once in this time, in milliseconds. */
const periodMs = 5_000;
/** What settles within this time is written as one, in milliseconds. */
const coalesceMs = 250;

/** All agents of a cluster see a change of a policy at once: their looks are spread over this many milliseconds. */
const policySpreadMs = 30_000;

/** Writes the status of the node's NodeVolumeState, once the controller has made the object. */
export class NodeStateReporter implements PlanListener {
  readonly #deps: NodeStateReporterDeps;
  readonly #states: Reflector<NodeVolumeState>;
  readonly #queue: KeyedQueue;
  readonly #policy: PolicyWatch;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #scheduled = false;
  #latest: { plan: Plan; table: MountTable | undefined } | undefined;

  constructor(deps: NodeStateReporterDeps) {
    this.#deps = deps;
    const { system, nodeName } = deps;
    this.#queue = createKeyedQueue({ system, name: "node-state", concurrency: 1, run: () => this.#write() });
    this.#policy = createPolicyWatch({
      system,
      look: () => inspectOwnPolicies(deps.client, deps.acceptedPolicies ?? noneAccepted),
      ...(deps.followPolicies && { follow: deps.followPolicies }),
      spreadMs: policySpreadMs,
      ...(deps.onAgentsRight && { onAgentsRight: deps.onAgentsRight }),
      onChange: (message) => {
        this.#schedule();
        if (message !== undefined) deps.event?.({ type: "Warning", reason: "PolicyMissing", message });
      },
    });
    this.#states = deps.states;
    this.#states.store.subscribe({
      onAdd: () => this.#queue.addAfter(nodeName, coalesceMs),
      // Somebody else wrote: the controller, while no Lease came through, or whoever wiped it.
      onUpdate: () => this.#schedule(),
    });
  }

  /** @param watchPolicy whether the policies that the agent rests on are looked at, too */
  start({ watchPolicy = false } = {}): void {
    this.#states.start();
    if (!watchPolicy) return;
    this.#deps.healthChecks?.needs("policies", () => this.#policy.gone);
    this.#policy.start();
  }

  /** Which policies are not as they should be, as last seen; undefined if all are. */
  get policyMissing(): string | undefined {
    return this.#policy.missing;
  }

  planned(plan: Plan, table: MountTable | undefined): void {
    this.#latest = { plan, table };
    this.#deps.note?.(plan);
    this.#schedule();
  }

  /** The status is computed when it may be written, not at each iteration: it covers every volume of the node. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const sinceMs = this.#deps.system.clock.monotonic() - this.#writtenAt;
    this.#queue.addAfter(this.#deps.nodeName, Math.max(coalesceMs, periodMs - sinceMs));
  }

  async stop(): Promise<void> {
    this.#states.stop();
    await Promise.all([this.#policy.stop(), this.#queue.stop()]);
  }

  async #patch(): Promise<{ state: NodeVolumeState; patch: object } | undefined> {
    const others = await this.#left();
    const { nodeName, settings, agent, synced, system, damage } = this.#deps;
    const { stateDir, allowedPrefixes, csiDir, hostRoot, kubeletDir } = settings;
    const state = this.#states.store.get(nodeName);
    if (state === undefined || this.#latest === undefined) return undefined;
    const input = {
      ...this.#latest,
      synced: synced(),
      sourceProblem: this.#deps.problem?.(),
      ...{ stateDir, allowedPrefixes, csiDir, hostRoot, kubeletDir },
      agent,
      damage,
      others,
      unguarded: this.#policy.missing,
      now: system.clock.now(),
    };
    const patch = mergeDiff({ ...state.status }, { ...nodeStateOf(state, input) });
    return patch && { state, patch };
  }

  /** Where it cannot be known now, what was told before is told no more: a look that fails is no evidence. */
  async #left(): Promise<readonly Orphan[]> {
    const { leftovers, system, nodeName } = this.#deps;
    if (leftovers === undefined || this.#latest === undefined) return [];
    try {
      const { orphans, againInMs } = await leftovers(this.#latest.plan);
      if (againInMs !== undefined) this.#queue.addAfter(nodeName, againInMs);
      return orphans;
    } catch (error) {
      system.log.warn("cannot search for leftovers of kubelet", { error: messageOf(error) });
      return [];
    }
  }

  async #write(): Promise<undefined> {
    this.#scheduled = false;
    const change = await this.#patch();
    if (change === undefined) return;
    const { name, uid, resourceVersion } = change.state.metadata;
    const ref = { name, uid, resourceVersion };
    this.#writtenAt = this.#deps.system.clock.monotonic();
    const { client, healthChecks } = this.#deps;
    try {
      this.#states.upsertIfNewer(await client.mergePatchStatus(resource.states, ref, change.patch));
      healthChecks?.statusWrite("", undefined);
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) healthChecks?.statusWrite("", error.message);
      throw error;
    }
  }
}

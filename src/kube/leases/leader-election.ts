import { resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import { isConflict, isNotFound } from "../client/api-error.ts";
import type { KubeClient } from "../client/client.ts";
import { type Lease, microTime } from "./lease.ts";

/** Dependencies of leader election. */
export interface LeaderElectionDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Unique to this run of the process: a restarted one must not take the lease of its predecessor for its own. */
  readonly identity: string;
  /**
   * @param unbroken this candidate led before, and nobody else has since: its Lease was late, and is the same as then
   */
  readonly onStarted: (unbroken: boolean) => void;
  readonly onStopped: () => void;
}

/** One leader among the candidates that share a Lease. */
export interface LeaderElection {
  start(): void;
  /** Whether this candidate may act at this moment. */
  isLeader(): boolean;
  /** Milliseconds until another candidate could take the lease; 0 if this one does not lead. */
  remainingMs(): number;
  /** Stops leading and gives the lease back, so that the next leader need not wait. Call it when all work has ended. */
  stop(): Promise<void>;
}

/** As client-go: others wait for the duration, the leader acts only until the deadline, attempts are a period apart. */
const leaseDurationMs = 15_000;
const renewDeadlineMs = 10_000;
const retryPeriodMs = 2_000;
const requestTimeoutMs = 5_000;

/** Leader election by a Lease, as client-go's leaderelection, with our own monotonic clock. */
export function createLeaderElection(deps: LeaderElectionDeps): LeaderElection {
  const { clock, timers, random, log } = deps.system;
  const { client, identity } = deps;
  const ref = { namespace: deps.namespace, name: deps.name };

  let observed: ObservedLease = { lease: undefined, since: clock.monotonic() };
  /** When the last successful renewal was sent. Not when it was answered: the lease may count from the sending. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** The same by the wall clock. */
  let renewedAtWall = Number.NEGATIVE_INFINITY;
  let leading = false;
  /** The Lease by which this candidate led last: who else takes it counts a transition, or makes another. */
  let heldLast: string | undefined;
  let failing = false;
  let stopped = false;
  let cancelTick: Cancel = () => {};
  let cancelDeadline: Cancel = () => {};
  let ticking: Promise<void> = Promise.resolve();

  /**
   * By the clock that has gone on more: the monotonic one has stood still in a machine that slept, or was moved to
   * another host.
   */
  function sinceRenewalMs(): number {
    return Math.max(clock.monotonic() - renewedAt, clock.now() - renewedAtWall);
  }

  function isLeader(): boolean {
    return leading && sinceRenewalMs() < renewDeadlineMs;
  }

  function see(lease: Lease | undefined): void {
    const same = lease?.metadata.resourceVersion === observed.lease?.metadata.resourceVersion;
    observed = { lease, since: same ? observed.since : clock.monotonic() };
  }

  /** One attempt to become or to stay the leader. The leader writes what it knows, everybody else reads first. */
  async function attempt(readFirst: boolean): Promise<void> {
    if (readFirst) see(await client.get<Lease>(resource.leases, ref));
    const sentAt = clock.monotonic();
    const sentAtWall = clock.now();
    const decision = decideLeadership(observed, identity, sentAt);
    if (decision.action === "wait") return lose(`${decision.holder} leads`);
    const lease = wanted(decision.action);
    const written =
      decision.action === "create"
        ? await client.create(resource.leases, lease, { timeoutMs: requestTimeoutMs })
        : await client.replace(resource.leases, lease, { timeoutMs: requestTimeoutMs });
    see(written);
    win({ sentAt, sentAtWall }, written);
  }

  function wanted(action: "create" | "renew" | "take"): Lease {
    const before = observed.lease?.spec;
    const now = microTime(clock.now());
    return {
      metadata: { ...ref, ...(action !== "create" && versionOf(observed.lease)) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: leaseDurationMs / 1000,
        renewTime: now,
        acquireTime: (action === "renew" && before?.acquireTime) || now,
        leaseTransitions: (before?.leaseTransitions ?? 0) + (action === "take" ? 1 : 0),
      },
    };
  }

  function win({ sentAt, sentAtWall }: { sentAt: number; sentAtWall: number }, { metadata, spec }: Lease): void {
    if (stopped) return;
    // No timer tells of a wall clock that was set: what was refused meanwhile begins anew.
    if (!isLeader()) lose("the lease was not renewed in time");
    const held = `${metadata.uid}/${spec.leaseTransitions}`;
    const unbroken = held === heldLast;
    heldLast = held;
    renewedAt = sentAt;
    renewedAtWall = sentAtWall;
    cancelDeadline();
    cancelDeadline = timers.after(Math.max(0, sentAt + renewDeadlineMs - clock.monotonic()), () => {
      lose("the lease could not be renewed in time");
    });
    if (leading) return;
    leading = true;
    log.info("became the leader", { identity, unbroken });
    deps.onStarted(unbroken);
  }

  function lose(why: string): void {
    if (!leading) return;
    leading = false;
    cancelDeadline();
    log.warn("no longer the leader", { identity, why });
    deps.onStopped();
  }

  async function tick(): Promise<void> {
    try {
      await attempt(!leading).catch((error: unknown) => {
        // Somebody else wrote the lease, or it is gone, or an earlier write of ours came through unanswered.
        if (isConflict(error) || isNotFound(error)) return attempt(true);
        throw error;
      });
      if (failing) log.info("leader election: the lease can be read and written again");
      failing = false;
    } catch (error) {
      const level = failing ? "debug" : "warn";
      log[level]("leader election: the lease cannot be read or written", { error: messageOf(error), leading });
      failing = true;
    }
    if (stopped) return;
    cancelTick = timers.after(retryPeriodMs * (1 + random.next() * 0.2), schedule);
  }

  function schedule(): void {
    ticking = tick();
  }

  return {
    start: schedule,
    isLeader,
    remainingMs: () => (isLeader() ? leaseDurationMs - sinceRenewalMs() : 0),
    async stop() {
      stopped = true;
      cancelTick();
      await ticking;
      const held = leading || observed.lease?.spec.holderIdentity === identity;
      lose("stopped");
      if (!held || observed.lease === undefined) return;
      const spec = { ...wanted("renew").spec, holderIdentity: "", leaseDurationSeconds: 1 };
      try {
        const lease = { metadata: { ...ref, ...versionOf(observed.lease) }, spec };
        await client.replace(resource.leases, lease, { timeoutMs: requestTimeoutMs });
      } catch (error) {
        log.warn("the lease could not be released", { error: messageOf(error) });
      }
    },
  };
}

function versionOf(lease: Lease | undefined) {
  const { uid, resourceVersion } = lease?.metadata ?? {};
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
}

/** The leader's Lease as last read. */
export interface ObservedLease {
  /** undefined: there is none. */
  readonly lease: Lease | undefined;
  /**
   * Monotonic milliseconds when this version of it was first seen: what another machine's clock says is not believed.
   */
  readonly since: number;
}

/** The next write of a candidate to the leader's Lease. */
type LeadershipDecision =
  | { readonly action: "create" }
  | { readonly action: "renew" }
  | { readonly action: "take" }
  /** Somebody else leads, at least `forMs` milliseconds longer. */
  | { readonly action: "wait"; readonly holder: string; readonly forMs: number };

/** Added to another's lease before it is taken, for what the old leader may still have under way. */
export const takeOverMarginMs = 2_000;

/**
 * What a candidate does next.
 *
 * A lease is only taken if it did not change for its whole duration plus a margin by our own clock; the holder stops
 * acting earlier than that by its own clock, so that there is no moment with two leaders.
 * @param now monotonic milliseconds
 */
export function decideLeadership(observed: ObservedLease, me: string, now: number): LeadershipDecision {
  if (observed.lease === undefined) return { action: "create" };
  const { holderIdentity: holder = "", leaseDurationSeconds = 0 } = observed.lease.spec;
  if (holder === me) return { action: "renew" };
  if (holder === "") return { action: "take" };
  const endsAt = observed.since + leaseDurationSeconds * 1000 + takeOverMarginMs;
  return now >= endsAt ? { action: "take" } : { action: "wait", holder, forMs: endsAt - now };
}

import { resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import { isConflict, isNotFound } from "../client/api-error.ts";
import type { KubeClient } from "../client/client.ts";
import { agentLeaseSeconds, type Lease, microTime } from "./lease.ts";

/** Dependencies of renewing the Lease of a node's agent. */
export interface LeaseRenewerDeps {
  readonly system: System;
  readonly client: KubeClient;
  readonly namespace: string;
  /** Name of the Lease and its holder: the node. */
  readonly name: string;
  readonly onRenewed?: () => void;
}

/** A sign of life: a Lease that is created if it is missing and renewed twice a minute, until stop. */
export interface LeaseRenewer {
  start(): void;
  /** Ends the renewals; resolves when none is under way. The Lease stays and runs out. */
  stop(): Promise<void>;
}

/** One may fail, after its time limit, and the next one comes before the agent is late (agentLateSeconds). */
const periodMs = 30_000;
const retryMs = 10_000;
const requestTimeoutMs = 10_000;

/**
 * Renews the Lease by which the controller knows that the agent of a node is alive. Failures are retried until `stop`.
 */
export function createLeaseRenewer(deps: LeaseRenewerDeps): LeaseRenewer {
  const { clock, timers, random, log } = deps.system;
  const { client, namespace, name } = deps;
  let held: Lease | undefined;
  let stopped = false;
  let failing = false;
  let cancelNext: Cancel = () => {};
  let renewing: Promise<void> = Promise.resolve();

  async function renew(): Promise<void> {
    held ??= await client.get<Lease>(resource.leases, { namespace, name });
    const now = microTime(clock.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: agentLeaseSeconds, renewTime: now };
    const options = { timeoutMs: requestTimeoutMs };
    held =
      held === undefined
        ? await client.create(resource.leases, { metadata: { namespace, name }, spec }, options)
        : await client.replace(resource.leases, { metadata: held.metadata, spec: { ...held.spec, ...spec } }, options);
  }

  async function tick(): Promise<void> {
    try {
      await renew();
      if (failing) log.info("the node's lease is renewed again");
      failing = false;
      deps.onRenewed?.();
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) held = undefined;
      if (!failing) log.warn("the node's lease cannot be renewed", { error: messageOf(error) });
      failing = true;
    }
    if (stopped) return;
    // Spread, so that the agents of a cluster do not all write in the same second.
    cancelNext = timers.after((failing ? retryMs : periodMs) * (0.9 + random.next() * 0.2), schedule);
  }

  function schedule(): void {
    renewing = tick();
  }

  return {
    start: schedule,
    async stop() {
      stopped = true;
      cancelNext();
      await renewing;
    },
  };
}

import { findCondition } from "../../../src/api/conditions.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { agentLeaseSeconds } from "../../../src/kube/leases/lease.ts";
import type { Change } from "../api/collection.ts";
import type { Report } from "./violation.ts";

/** How long a write may have been on its way since it was decided on, in milliseconds: what weather delays most. */
const underWayMs = 60_000;

/** An agent is said to be lost only when its Lease was not renewed for its whole duration (safety rule 22). */
export class AgentLostRules {
  readonly #now: () => number;
  readonly #report: Report;
  /** By node: the last renewal, and the end of the longest time without one that ended within `underWayMs`. */
  readonly #renewals = new Map<string, { readonly at: number; readonly ranOutAt: number }>();

  constructor(now: () => number, report: Report) {
    this.#now = now;
    this.#report = report;
  }

  leaseStored(node: string): void {
    const before = this.#renewals.get(node);
    const at = this.#now();
    const ranOut = before === undefined || at - before.at >= agentLeaseSeconds * 1000;
    this.#renewals.set(node, { at, ranOutAt: ranOut ? at : (before?.ranOutAt ?? at) });
  }

  intentStored({ object, before }: Change): void {
    const { spec, status, metadata } = object as unknown as NodeVolumeIntent; // the collection holds nothing else
    if (!isLost(status) || isLost((before as unknown as NodeVolumeIntent | undefined)?.status)) return;
    const renewal = this.#renewals.get(spec.nodeName);
    if (renewal === undefined) return;
    const silentMs = this.#now() - renewal.at;
    if (silentMs >= agentLeaseSeconds * 1000 || this.#now() - renewal.ranOutAt <= underWayMs) return;
    const seconds = Math.round(silentMs / 1000);
    this.#report(`rule 22: ${metadata.name} says that the agent is lost, whose Lease was renewed ${seconds} s ago`);
  }
}

function isLost(status: NodeVolumeIntent["status"] | undefined): boolean {
  return findCondition(status?.conditions, "Ready")?.reason === "AgentLost";
}

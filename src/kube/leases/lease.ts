import type { KubeObject, ObjectMeta } from "../../api/meta.ts";
import { numberIn, recordIn, stringIn } from "../json.ts";

/** Duration of an agent's Lease. Five renewals may fail before it runs out. */
export const agentLeaseSeconds = 180;

/** A Lease is late after one part of so many of its duration without a renewal. */
const lateParts = 3;

/**
 * An agent that has not renewed its Lease for this long is reported as late, and nothing else: what is decided about
 * its volumes waits until the Lease has run out (decision 0113). Renewals come every 33 s at most; after one that
 * failed, within 54 s.
 */
export const agentLateSeconds = agentLeaseSeconds / lateParts;

/** The part of coordination.k8s.io/v1 Lease that is read or written here. */
export interface Lease extends KubeObject {
  metadata: ObjectMeta;
  spec: LeaseSpec;
}

/** The spec of a coordination.k8s.io/v1 Lease. */
export interface LeaseSpec {
  /** "" or absent: nobody. */
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** late: it is valid still, and two renewals should have come. */
export type LeaseState = "live" | "late" | "expired";

export interface LeaseValidity {
  readonly state: LeaseState;
  /** Milliseconds since it expired; negative while it is valid. */
  readonly expiredForMs: number;
  /** Milliseconds since renewals are overdue; negative until then. */
  readonly lateForMs: number;
}

/**
 * PURE. Whether a Lease is valid, worked out here alone. It is late once a third of its duration has passed: of an
 * agent's Lease that is agentLateSeconds.
 * @param unrenewedMs milliseconds since its last renewal, by a clock that the caller believes
 */
export function leaseValidity(durationSeconds: number, unrenewedMs: number): LeaseValidity {
  const durationMs = durationSeconds * 1_000;
  const [expiredForMs, lateForMs] = [unrenewedMs - durationMs, unrenewedMs - durationMs / lateParts];
  return { state: expiredForMs >= 0 ? "expired" : lateForMs >= 0 ? "late" : "live", expiredForMs, lateForMs };
}

/**
 * PURE. The same by the time that the Lease names, for those who have not watched it: two machines' clocks. One that is
 * absent, held by nobody or was never renewed has expired.
 * @param now milliseconds since the epoch
 * @param allowanceMs by how much our clock may be ahead of the holder's
 */
export function leaseValidityAt(lease: Lease | undefined, now: number, allowanceMs = 0): LeaseValidity {
  const { renewTime = "", leaseDurationSeconds = 0, holderIdentity = "" } = lease?.spec ?? {};
  const renewed = holderIdentity === "" ? Number.NaN : Date.parse(renewTime);
  if (Number.isNaN(renewed)) return leaseValidity(0, Number.POSITIVE_INFINITY);
  return leaseValidity(leaseDurationSeconds, now - renewed - allowanceMs);
}

/** A Lease as it is kept in a store: without managedFields. */
export function projectLease(raw: unknown): Lease | undefined {
  const metadata = recordIn(raw, "metadata");
  const name = stringIn(metadata, "name");
  if (name === undefined) return undefined;
  const spec = recordIn(raw, "spec");
  return {
    metadata: definedOnly({
      name,
      namespace: stringIn(metadata, "namespace"),
      uid: stringIn(metadata, "uid"),
      resourceVersion: stringIn(metadata, "resourceVersion"),
    }),
    spec: definedOnly({
      holderIdentity: stringIn(spec, "holderIdentity"),
      leaseDurationSeconds: numberIn(spec, "leaseDurationSeconds"),
      acquireTime: stringIn(spec, "acquireTime"),
      renewTime: stringIn(spec, "renewTime"),
      leaseTransitions: numberIn(spec, "leaseTransitions"),
    }),
  };
}

/** A time as metav1.MicroTime. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function definedOnly<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

import type { KubeObject, ObjectMeta } from "../api/meta.ts";
import { numberIn, recordIn, stringIn } from "./json.ts";

/**
 * An agent that has not renewed its Lease for this long is reported as late, and nothing else: what is decided about
 * its volumes waits until the Lease has run out (decision 0113). Renewals come every 33 s at most; after one that
 * failed, within 54 s.
 */
export const agentLateSeconds = 60;

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

import { leaderLease, systemNamespace } from "../../api/names.ts";
import { controllerLog } from "../../explain/next-steps.ts";
import { type Lease, leaseValidityAt } from "../../kube/leases/lease.ts";
import { age } from "../age.ts";
import { podProblem } from "./check-agents.ts";
import type { InstalledFacts } from "./facts.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

/**
 * Milliseconds after its end in which a Lease still counts: the time is this machine's, and its clock may be ahead of
 * those of the holders. The leader's Lease lasts only 15 s.
 */
const clockAllowance = 60_000;

/** PURE. Whether a Lease is valid at a time, in milliseconds since the epoch, or was so up to a minute before. */
export function isLive(lease: Lease | undefined, now: number): boolean {
  return leaseValidityAt(lease, now, clockAllowance).state !== "expired";
}

/** PURE. Whether the controller has a pod that is ready. */
export function checkController({ pods, replicas }: Pick<InstalledFacts, "pods" | "replicas">): Found {
  if (pods.denied !== undefined) return unknown(pods.denied);
  const own = pods.items.filter(({ component }) => component === "controller");
  const desired = Math.max(replicas.items[0] ?? 0, own.length);
  const ready = own.filter((pod) => pod.ready);
  const found = desired === 0 ? "there is no pod" : `${ready.length} of ${desired} pods are ready`;
  if (desired > 0 && ready.length === desired) return ok(found);
  const broken = own.find((pod) => !pod.ready);
  const describe = `kubectl -n ${systemNamespace} describe deployment nodevolume-controller`;
  const { words, remedy } = broken === undefined ? { words: "", remedy: describe } : podProblem(broken);
  const result = ready.length > 0 ? limited : failed;
  return result(words === "" ? found : `${found}: ${words}`, remedy);
}

/** PURE. Whether a controller leads, by its Lease. @param now milliseconds since the epoch */
export function checkLeader({ leases }: Pick<InstalledFacts, "leases">, now: number): Found {
  if (leases.denied !== undefined) return unknown(leases.denied);
  const lease = leases.items.find(({ metadata }) => metadata.name === leaderLease);
  if (lease !== undefined && isLive(lease, now)) return ok(lease.spec.holderIdentity ?? "");
  const since = age(lease?.spec.renewTime, now);
  const found = since === "" ? "no controller leads" : `no controller leads: the Lease was renewed ${since} ago`;
  return failed(`${found}. Mounts stay, and nothing new is granted`, controllerLog);
}

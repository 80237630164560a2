// What goes on in a cluster at rest: each agent renews its Lease, each kubelet reports its Node.
import { resource, systemNamespace } from "../../../../src/api/names.ts";
import { beating } from "./bases.ts";
import type { Cluster } from "./cluster.ts";

/**
 * Milliseconds between two renewals of a Lease (src/kube/leases/lease-renewer.ts), and between two reports of a
 * kubelet.
 */
const leaseMs = 30_000;
const nodeMs = 300_000;
/** Milliseconds between two turns. */
const turnMs = 20;

/** Writes heartbeats at the rate at which a cluster of this size has them, evenly. @returns ends it */
export function startHeartbeats(cluster: Cluster): () => void {
  const { nodes } = cluster.names.shape;
  const of = { lease: { every: leaseMs, next: 0 }, node: { every: nodeMs, next: 0 } };
  const begun = performance.now();
  const timer = setInterval(() => {
    const elapsed = performance.now() - begun;
    for (const kind of ["lease", "node"] as const) {
      const beat = of[kind];
      const due = Math.floor((elapsed / beat.every) * nodes);
      for (; beat.next < due; beat.next += 1) {
        const index = beat.next % nodes;
        const version = cluster.nextVersion();
        const key = kind === "node" ? cluster.names.node(index) : `${systemNamespace}/${cluster.names.node(index)}`;
        const text = beating(kind, cluster, index, version, Date.now());
        cluster.of(kind === "node" ? resource.nodes : resource.leases).put(key, text, version);
      }
    }
  }, turnMs);
  return () => clearInterval(timer);
}

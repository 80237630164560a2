// Clusters to look at: one with a failing node, a volume that is blocked, one that waits, and an orphan; and large
// ones.
import type { System } from "../../../src/ports.ts";
import { createFakeView, type FakeView } from "./fake-view.ts";
import { ago, rawIntent, rawLease, rawNode, rawSet, rawState, type Volume, waitingStatus } from "./objects.ts";
import { skippingClock } from "./skipping-clock.ts";

export const volumes: readonly Volume[] = [
  { set: "datasets", type: "nfs", source: { nfs: { server: "nfs.example", path: "/export/datasets" } } },
  { set: "scratch", type: "emptyDir", source: { emptyDir: { medium: "Memory", sizeLimit: "8Gi" } } },
  {
    set: "models",
    type: "image",
    source: { image: { reference: `registry.example/models@sha256:${"0".repeat(64)}` } },
  },
  { set: "ca-bundle", type: "configMap", source: { configMap: { namespace: "platform", name: "ca-bundle" } } },
  { set: "app-logs", type: "local", source: { local: { path: "/var/log/app" } } },
  {
    set: "thumbnails",
    type: "cephfs",
    source: { cephfs: { monitors: ["ceph.example"], secretRef: { namespace: "a", name: "b" } } },
  },
];

export interface Cluster {
  readonly view: FakeView;
  readonly system: System;
  readonly nodes: readonly string[];
  readonly volumes: readonly Volume[];
}

/** All is well, on nodes worker-1, worker-2, … */
export function wellCluster(
  real: System,
  nodeCount: number,
  sets: readonly Volume[] = volumes,
): Cluster & { skip(ms: number): void } {
  const { clock, skip } = skippingClock(real.clock);
  const system = { ...real, clock };
  const view = createFakeView(system);
  const now = real.clock.now();
  const nodes = Array.from({ length: nodeCount }, (_, at) => `worker-${at + 1}`);
  for (const volume of sets) view.put("nodevolumesets", rawSet(volume));
  for (const node of nodes) {
    view.put("nodes", rawNode(node));
    view.put("nodevolumestates", rawState(node));
    view.put("leases", rawLease(node, now - 20_000));
    for (const volume of sets) view.put("nodevolumeintents", rawIntent(node, volume, now));
  }
  return { view, system, nodes, volumes: sets, skip };
}

/** As many sets as wanted, of one kind. */
export function manySets(count: number): Volume[] {
  return Array.from({ length: count }, (_, at) => ({
    set: `share-${at + 1}`,
    type: "hostPath",
    source: { hostPath: { path: `/data/${at}` } },
  }));
}

/** With worker-17 late, scratch blocked on worker-5, datasets waiting on worker-11, and an orphan on worker-21. */
export function troubledCluster(real: System, nodeCount = 24): Cluster {
  const cluster = wellCluster(real, nodeCount);
  const { view, skip, nodes } = cluster;
  const now = real.clock.now();
  const [datasets, scratch] = volumes;
  if (datasets === undefined || scratch === undefined) throw new Error("there are sets");
  const foreign = "/mnt/nodevolume/scratch has a mount that is not ours: tmpfs, mounted by pid 4121 (install.sh)";
  const blocked = waitingStatus(now, 252, "ForeignMount", foreign, {
    mounts: [
      { name: "host", path: "/mnt/nodevolume/scratch", state: "Foreign", reason: "ForeignMount", message: foreign },
    ],
  });
  view.put("nodevolumeintents", rawIntent("worker-5", scratch, now, blocked));
  const silent = "nfs.example:/export/datasets: the server does not answer (connection timed out)";
  const waiting = waitingStatus(now, 95, "ServerUnreachable", silent, { attempts: 6, retryIn: 48 });
  view.put("nodevolumeintents", rawIntent("worker-11", datasets, now, waiting));
  const orphan = {
    ...{
      path: "/mnt/nodevolume/archive",
      kind: "Mount",
      volume: "worker-21.archive-77e0c1d2e3",
      reason: "UnexplainedRemoval",
    },
    ...{ source: "nfs.example:/export/archive", since: ago(now, 3_900) },
    message: "the intent worker-21.archive-77e0c1d2e3 is gone, and nobody had deleted it as far as the agent has seen",
    remedy: "Create the set again, or unmount it by hand on the node: `umount /mnt/nodevolume/archive`.",
  };
  view.put("nodevolumestates", rawState("worker-21", [orphan]));
  silence(cluster, "worker-17", skip, nodes, now);
  return cluster;
}

/**
 * 5,000 nodes with ten volumes each, of which one cannot reach its server from some racks, and a few nodes are silent.
 */
export function largeCluster(real: System, nodeCount = 5_000): Cluster {
  const cluster = wellCluster(real, nodeCount, manySets(10));
  const { view, skip, nodes, volumes: sets } = cluster;
  const now = real.clock.now();
  const [, , third, , fifth] = sets;
  if (third === undefined || fifth === undefined) throw new Error("there are sets");
  for (const node of nodes.slice(1_200, 1_280)) {
    const status = waitingStatus(now, 640, "ServerUnreachable", "10.2.0.4:/share-3: the server does not answer");
    view.put("nodevolumeintents", rawIntent(node, third, now, status));
  }
  for (const node of [nodes[400], nodes[401], nodes[3_000]]) {
    const status = waitingStatus(now, 70, "SourceNotFound", "/data/4 is not there on the node");
    if (node !== undefined) view.put("nodevolumeintents", rawIntent(node, fifth, now, status));
  }
  silence(cluster, nodes[4_100] ?? "", skip, nodes, now);
  return cluster;
}

/** Its Lease runs out, those of the others are renewed; and the controller says so in its volumes. */
function silence(
  { view, volumes: sets }: Cluster,
  node: string,
  skip: (ms: number) => void,
  nodes: readonly string[],
  now: number,
): void {
  for (const name of nodes) view.put("leases", rawLease(name, now - (name === node ? 410_000 : 5_000)));
  skip(240_000);
  for (const name of nodes) if (name !== node) view.put("leases", rawLease(name, now - 4_000));
  const since = ago(now, 230);
  const message =
    "The agent of the node has not renewed its Lease; what it mounted stays, and nobody can say how it is.";
  for (const volume of sets) {
    const said = { agentState: { state: "Lost" as const, since } };
    const conditions = [
      { type: "Ready", status: "Unknown" as const, reason: "AgentLost", message, lastTransitionTime: since },
    ];
    view.put("nodevolumeintents", rawIntent(node, volume, now, { ...said, conditions }));
  }
}

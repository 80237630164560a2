import { group, type Resource, resource } from "../../../../src/api/names.ts";
import type { Cluster } from "../generator/cluster.ts";
import { putAll, type Stored } from "./etcd.ts";

/** In an order in which nothing names what is not there yet. */
const seeded: readonly Resource[] = [
  resource.namespaces,
  resource.csiDrivers,
  resource.storageClasses,
  resource.nodes,
  resource.csiNodes,
  resource.leases,
  resource.persistentVolumes,
  resource.claims,
  resource.volumeAttachments,
  resource.intents,
  resource.states,
  resource.pods,
];

/**
 * Writes a cluster that our controller has served before: all objects with their statuses and UIDs as they are
 * generated, straight into etcd. Through the API server, which takes statuses apart and gives UIDs of its own, it would
 * take an hour.
 * @param socketPath etcd's
 */
export async function seed(socketPath: string, cluster: Cluster, report: (line: string) => void): Promise<void> {
  for (const one of seeded) {
    report(`  putting ${cluster.of(one).size} ${one.plural}`);
    await putAll(socketPath, storedOf(cluster, one));
  }
}

function* storedOf(cluster: Cluster, of: Resource): Generator<Stored> {
  for (const { text } of cluster.of(of).snapshot().objects()) {
    const { metadata } = JSON.parse(text) as { metadata: { name: string; namespace?: string } };
    yield { key: keyOf(of, metadata), text };
    if (of === resource.namespaces) yield serviceAccountOf(metadata.name);
  }
}

/**
 * PURE. Where kube-apiserver keeps an object: beneath the plural, which for Nodes is an old one, and of a custom
 * resource beneath its group.
 */
export function keyOf(
  of: Resource,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
): string {
  const folder = of.plural === "nodes" ? "minions" : of.group === group ? `${of.group}/${of.plural}` : of.plural;
  return ["/registry", folder, ...(namespace === undefined ? [] : [namespace]), name].join("/");
}

/** Without it a namespace takes no pods. */
function serviceAccountOf(namespace: string): Stored {
  const key = `/registry/serviceaccounts/${namespace}/default`;
  const metadata = { name: "default", namespace };
  return { key, text: JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata }) };
}

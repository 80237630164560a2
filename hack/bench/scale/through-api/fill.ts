import type { Resource } from "../../../../src/api/names.ts";
import { resource } from "../../../../src/api/names.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import { type ApiClient, type JsonObject, mergePatch } from "../../../lib/api-client.ts";
import { podText } from "../generator/bases.ts";
import type { Cluster } from "../generator/cluster.ts";
import type { Collection } from "../generator/collection.ts";
import { atMost } from "./at-most.ts";

type Made = {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
};

/** Requests at a time: more only wait. */
const atOnce = 24;

/**
 * Writes the generated cluster into a real one: as whoever set it up did, the administrator. Statuses that a claim is
 * bound by come after, as the server takes them apart.
 */
export async function fill(admin: ApiClient, cluster: Cluster, report: (line: string) => void): Promise<void> {
  const { names } = cluster;
  const serviceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  const each = async (of: Resource, then?: (one: Made) => Promise<void>) => {
    report(`  writing ${cluster.of(of).size} ${of.plural}`);
    await atMost(atOnce, objects(cluster.of(of)), async (one) => {
      await post(admin, resourcePath(of, { namespace: one.metadata.namespace }), one);
      await then?.(one);
    });
  };
  await each(resource.namespaces, ({ metadata }) =>
    post(admin, `/api/v1/namespaces/${metadata.name}/serviceaccounts`, serviceAccount),
  );
  await each(resource.csiDrivers);
  await each(resource.storageClasses);
  await each(resource.nodes);
  await each(resource.csiNodes);
  const uids = new Map<string, string>();
  await each(resource.claims, async ({ metadata: { name, namespace }, ...claim }) => {
    const path = resourcePath(resource.claims, { namespace, name, subresource: "status" });
    const bound = await admin.call("PATCH", path, { body: { status: claim["status"] }, contentType: mergePatch });
    if (bound.status !== 200) throw new Error(`${path}: ${bound.status} ${String(bound.body["message"])}`);
    uids.set(`${namespace}/${name}`, (bound.body["metadata"] as { uid: string }).uid);
  });
  report(`  writing ${cluster.of(resource.persistentVolumes).size} persistentvolumes`);
  await atMost(atOnce, objects(cluster.of(resource.persistentVolumes)), async (one) => {
    const spec = one["spec"] as { claimRef: { namespace: string; name: string } };
    const uid = uids.get(`${spec.claimRef.namespace}/${spec.claimRef.name}`);
    const { resourceVersion: _, ...claimRef } = { ...spec.claimRef, uid, resourceVersion: "" };
    await post(admin, resourcePath(resource.persistentVolumes), { ...one, spec: { ...spec, claimRef } });
  });
  report(`  writing ${names.pods} pods`);
  await atMost(atOnce, Array(names.pods).keys(), (pod) => createPod(admin, cluster, pod));
}

/** On its node at once, as after the scheduler. */
export async function createPod(admin: ApiClient, cluster: Cluster, pod: number): Promise<void> {
  const { namespace, ...rest } = plain(podText(cluster.names, cluster.writers, pod, 1)).metadata;
  const { metadata: _, status: __, ...object } = plain(podText(cluster.names, cluster.writers, pod, 1));
  await post(admin, resourcePath(resource.pods, { namespace }), { ...object, metadata: { ...rest, namespace } });
}

function* objects(collection: Collection): Generator<Made> {
  for (const { text } of collection.snapshot().objects()) yield plain(text);
}

/** Without what a server gives itself. */
function plain(text: string): Made {
  const object = JSON.parse(text) as Made & { metadata: JsonObject };
  const metadata: JsonObject = { ...object.metadata };
  for (const own of ["uid", "resourceVersion", "managedFields", "creationTimestamp", "generation", "ownerReferences"]) {
    delete metadata[own];
  }
  return { ...object, metadata: metadata as Made["metadata"] };
}

async function post(admin: ApiClient, path: string, body: object): Promise<void> {
  const answer = await admin.call("POST", path, { body });
  if (answer.status === 201 || answer.status === 409) return;
  throw new Error(`${path}: ${answer.status} ${String(answer.body["message"])}`);
}

import type { KubeObject } from "../api/meta.ts";
import { type Resource, resource } from "../api/names.ts";
import { ApiError, bodyOf } from "../kube/client/api-error.ts";
import type { KubeClient, ListOptions } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import { recordIn, stringIn } from "../kube/json.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../kube/watch/reflector.ts";
import type { System } from "../ports.ts";
import { CommandError } from "./exit-code.ts";
import { didYouMean } from "./nearest.ts";

/** The cluster of the kubeconfig's context, as its user may see it. */
export interface Cluster {
  readonly client: KubeClient;
  readonly transport: Transport;
  /** Its address, as the kubeconfig has it. */
  readonly server: string;
  /** Of --namespace, or of the context. */
  readonly namespace: string;
  /** Whom the kubeconfig names; the server may call him otherwise. */
  readonly user: string;
  close(): void;
}

/** Objects, or why they could not be read. */
export interface Reading<T> {
  readonly items: readonly T[];
  /** Why nothing is known of them: the user may not read them, or the server does not have the kind. */
  readonly denied?: string;
}

/**
 * A list that may be refused: then it is empty and says so. Rejects if there is no answer.
 * @param project what is kept of an object, instead of all of it: of thousands, no more than that and one page
 */
export function listIfAllowed<T extends KubeObject, P = T>(
  { client }: Cluster,
  of: Resource,
  options?: ListOptions,
  project?: (object: T) => P,
): Promise<Reading<P>> {
  return ifAllowed(of, async () => (await client.list<T, P>(of, options, project)).items);
}

/** One object that may be refused or not be there. */
export function getIfAllowed<T extends KubeObject>(
  { client }: Cluster,
  of: Resource,
  ref: { readonly name: string; readonly namespace?: string | undefined },
): Promise<Reading<T>> {
  return ifAllowed(of, async () => {
    const found = await client.get<T>(of, ref);
    return found === undefined ? [] : [found];
  });
}

async function ifAllowed<T>({ plural }: Resource, read: () => Promise<readonly T[]>): Promise<Reading<T>> {
  try {
    return { items: await read() };
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404].includes(error.status)) throw error;
    return { items: [], denied: error.status === 403 ? `you may not read ${plural}` : `the cluster has no ${plural}` };
  }
}

/** Resolves if there is such a Node, as far as the user may know. @throws CommandError which names the nearest one */
export async function requireNode(cluster: Cluster, name: string): Promise<void> {
  const { items, denied } = await getIfAllowed(cluster, resource.nodes, { name });
  if (items.length > 0 || denied !== undefined) return;
  throw new CommandError(`there is no node ${JSON.stringify(name)}${didYouMean(name, await nodeNames(cluster))}`);
}

/** As far as the user may know. */
export async function nodeNames(cluster: Cluster): Promise<string[]> {
  return (await listIfAllowed(cluster, resource.nodes)).items.map(({ metadata }) => metadata.name);
}

/** Whom the server takes us for; the kubeconfig's name for it if the server does not say. @throws as `review` */
export async function whoAmI(cluster: Cluster): Promise<string> {
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await review(cluster, path, body);
  return stringIn(recordIn(recordIn(answer, "status"), "userInfo"), "username") ?? cluster.user;
}

/** The answer to a question that is asked by creating an object that is not stored. @throws ApiError, TransportError */
export function review({ transport }: Cluster, path: string, body: object): Promise<unknown> {
  return bodyOf(transport, { method: "POST", path, body });
}

/** Which objects of a collection are read. */
export type Selection = Pick<ReflectorDeps<KubeObject>, "namespace" | "labelSelector" | "fieldSelector">;

/** A watch of whole objects. It must be stopped. */
export function follow<T extends KubeObject>(
  { transport }: Cluster,
  system: System,
  of: Resource,
  selection: Selection,
): Reflector<T> {
  return createReflector<T>({ system, transport, resource: of, project: (raw) => raw as T, ...selection });
}

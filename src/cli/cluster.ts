import type { KubeObject } from "../api/meta.ts";
import type { Resource } from "../api/names.ts";
import { ApiError } from "../kube/client/api-error.ts";
import type { KubeClient, ListOptions } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import { createReflector, type Reflector } from "../kube/watch/reflector.ts";
import type { System } from "../ports.ts";

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
 * @param project what is kept of an object, instead of all of it
 */
export async function listIfAllowed<T extends KubeObject, P = T>(
  { client }: Cluster,
  resource: Resource,
  options?: ListOptions,
  project?: (object: T) => P,
): Promise<Reading<P>> {
  try {
    return { items: (await client.list<T, P>(resource, options, project)).items };
  } catch (error) {
    const denied = deniedBecause(error, resource);
    if (denied === undefined) throw error;
    return { items: [], denied };
  }
}

/** One object that may be refused or not be there. */
export async function getIfAllowed<T extends KubeObject>(
  { client }: Cluster,
  resource: Resource,
  ref: { readonly name: string; readonly namespace?: string | undefined },
): Promise<Reading<T>> {
  try {
    const found = await client.get<T>(resource, ref);
    return { items: found === undefined ? [] : [found] };
  } catch (error) {
    const denied = deniedBecause(error, resource);
    if (denied === undefined) throw error;
    return { items: [], denied };
  }
}

function deniedBecause(error: unknown, resource: Resource): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 403) return `you may not read ${resource.plural}`;
  return error.status === 404 ? `the cluster has no ${resource.plural}` : undefined;
}

/** A watch of whole objects. It must be stopped. */
export function follow<T extends KubeObject>(
  { transport }: Cluster,
  system: System,
  resource: Resource,
  options: ListOptions = {},
): Reflector<T> {
  const project = (raw: unknown) => raw as T;
  return createReflector<T>({
    system,
    transport,
    resource,
    project,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.labelSelector !== undefined && { labelSelector: options.labelSelector }),
    ...(options.fieldSelector !== undefined && { fieldSelector: options.fieldSelector }),
  });
}

import { ApiError } from "../../kube/client/api-error.ts";
import type { ReadOptions } from "../../kube/client/client.ts";

/**
 * Reads as the agent, where an administrator has granted that; else as the agent's own node, which the API server lets
 * read what is of this node alone (KEP-5284, on by default since Kubernetes 1.36).
 */
export async function asAgentOrNode<T>(nodeName: string, read: (options: ReadOptions) => Promise<T>): Promise<T> {
  try {
    return await read({});
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return read({ asUser: `system:node:${nodeName}` });
  }
}

/** PURE. Whether the API server refused a request by RBAC or admission (HTTP 403): a right is missing. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

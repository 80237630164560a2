import type { ApiCall, ApiClient, JsonObject } from "./api-client.ts";

/**
 * The body of a request that has to succeed. @throws Error with the request, the status and the server's words if it
 * did not
 */
export async function succeed(
  client: ApiClient,
  method: string,
  path: string,
  call: ApiCall = {},
): Promise<JsonObject> {
  const body = await ifThere(client, method, path, call);
  if (body === undefined) throw new Error(`${method} ${path}: 404 not found`);
  return body;
}

/** The same for what may be absent: undefined if the server says that it has no such object. */
export async function ifThere(
  client: ApiClient,
  method: string,
  path: string,
  call: ApiCall = {},
): Promise<JsonObject | undefined> {
  const { status, body } = await client.call(method, path, call);
  if (status === 404) return undefined;
  if (status < 200 || status > 299) {
    const words = body["message"] ?? body["text"] ?? "no message";
    throw new Error(`${method} ${path}: ${status} ${String(words)}`);
  }
  return body;
}

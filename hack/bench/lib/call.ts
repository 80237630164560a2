import type { ApiClient } from "../../lib/api-client.ts";

/** One request that is to succeed. @throws Error with what the server says */
export async function call(client: ApiClient, ...request: Parameters<ApiClient["call"]>): Promise<void> {
  const { status, body } = await client.call(...request);
  const [method, path] = request;
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${String(body["message"])}`);
}

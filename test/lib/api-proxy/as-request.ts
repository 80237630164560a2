import type { ApiRequest } from "../../../src/kube/client/transport.ts";
import { type AgentRequest, common } from "./requests.ts";

/** What an agent's transport makes of a request of its, as src/kube/client/http-transport.ts does. */
export function asRequest({ method, path, query = {}, body, contentType, asUser }: ApiRequest): AgentRequest {
  const url = new URL(path, "http://api-proxy");
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const of = text === undefined ? [] : ["content-type", contentType ?? "application/json"];
  const length = text === undefined ? [] : ["content-length", String(Buffer.byteLength(text))];
  const user = asUser === undefined ? [] : ["impersonate-user", asUser];
  const headers = [...common, ...of, ...length, ...user];
  return { method, target: url.pathname + url.search, headers, ...(text !== undefined && { body: text }) };
}

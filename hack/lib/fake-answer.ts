import { apiVersionOf } from "../../src/kube/client/resource-path.ts";
import type { ApiResponse } from "../../src/kube/client/transport.ts";
import { isRecord, recordIn } from "../../src/kube/json.ts";
import { parsePath } from "./api-path.ts";

/**
 * PURE. A fake API server's answer of a path, with what a real one gives and fakes need not know: kind and apiVersion,
 * and of a list its version.
 */
export function fakeAnswer(path: string, { status, body, ...rest }: ApiResponse): ApiResponse {
  const of = parsePath(path)?.of;
  if (!isRecord(body)) return { status, body, ...rest };
  if (status > 299) return { status, body: { kind: "Status", apiVersion: "v1", ...body }, ...rest };
  if (of === undefined) return { status, body, ...rest };
  const isList = Object.hasOwn(body, "items");
  const type = { kind: isList ? `${of.kind}List` : of.kind, apiVersion: apiVersionOf(of) };
  const metadata = { ...(isList && { resourceVersion: "1" }), ...recordIn(body, "metadata") };
  return { status, body: { ...type, ...body, metadata }, ...rest };
}

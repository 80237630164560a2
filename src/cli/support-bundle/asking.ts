import type { Resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, bodyOf } from "../../kube/client/api-error.ts";
import { resourcePath } from "../../kube/client/resource-path.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import type { Selection } from "../cluster.ts";

/** Objects of one kind, as far as they were read. */
export interface PartialList {
  readonly items: readonly unknown[];
  /** Why it is not all of them. */
  readonly gap?: string;
}

const pageSize = 500;
/** Bytes of JSON of one kind: more is no bug report. */
const largestList = 16 * 1024 * 1024;

/** Reads all objects, page by page, until it is too much. An answer that is none is a gap, not an error. */
export async function findAll(
  transport: Transport,
  resource: Resource,
  { namespace, ...selectors }: Selection = {},
  largest = largestList,
): Promise<PartialList> {
  const items: unknown[] = [];
  const name = resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
  const path = resourcePath(resource, { namespace });
  let bytes = 0;
  for (let page = ""; ; ) {
    const query = { limit: String(pageSize), ...selectors, ...(page !== "" && { continue: page }) };
    let body: unknown;
    try {
      body = await ask(transport, path, query);
    } catch (error) {
      return { items, gap: whyNot(error, `list ${name}`, namespace) };
    }
    for (const item of arrayIn(body, "items")) {
      bytes += JSON.stringify(item).length;
      if (bytes > largest)
        return { items, gap: `the first ${items.length} alone: all have more than ${largest} bytes` };
      items.push(item);
    }
    page = stringIn(recordIn(body, "metadata"), "continue") ?? "";
    if (page === "") return { items };
  }
}

/** The body of the answer. @throws ApiError, TransportError */
export function ask(
  transport: Transport,
  path: string,
  query: { readonly [name: string]: string } = {},
  timeoutMs = 30_000,
): Promise<unknown> {
  return bodyOf(transport, { method: "GET", path, query, timeoutMs });
}

/** The same as text: a log of one line is JSON, too. */
export async function askText(...of: Parameters<typeof ask>): Promise<string> {
  const body = await ask(...of);
  return body === undefined ? "" : typeof body === "string" ? body : `${JSON.stringify(body)}\n`;
}

/** PURE. Why something was not read, in words for whoever reads the archive. */
export function whyNot(error: unknown, what: string, namespace?: string): string {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  if (error instanceof ApiError && error.status === 403) return `you may not ${what}${where}`;
  if (error instanceof ApiError && error.status === 404) return `the cluster does not have it: ${what}${where}`;
  return messageOf(error).replace(/\s+/g, " ").slice(0, 300);
}

import type { ServerResponse } from "node:http";
import { apiVersionOf } from "../../../../src/kube/client/resource-path.ts";
import type { Cluster, Served } from "./cluster.ts";
import { type Selector, seenBy } from "./selectors.ts";

export interface WatchRequest {
  readonly served: Served;
  readonly namespace: string | undefined;
  readonly selector: Selector | undefined;
  /** undefined: it begins with all objects. */
  readonly from: number | undefined;
  readonly timeoutSeconds: number;
}

/** Milliseconds between two bookmarks, as a real server has them. */
const bookmarkMs = 55_000;
/** Characters that are given to a socket at once while all objects are sent. */
const chunkLength = 256 * 1024;

/** Answers a watch: all objects and a bookmark if it asks for them, then each change, until its time is over. */
export async function serveWatch(cluster: Cluster, request: WatchRequest, response: ServerResponse): Promise<void> {
  const { served, namespace, selector, from } = request;
  const { log, base } = served.collection;
  response.writeHead(200, { "content-type": "application/json" });
  const missed = from === undefined ? undefined : log.since(from);
  if (from !== undefined && missed === undefined) {
    const object = {
      kind: "Status",
      status: "Failure",
      reason: "Expired",
      code: 410,
      message: `too old resource version: ${from}`,
    };
    response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    return;
  }
  const inside = (text: string) => namespace === undefined || text.includes(`"namespace":${JSON.stringify(namespace)}`);
  const lineOf = (change: Parameters<typeof seenBy>[1]) => {
    const type = inside(change.text) ? seenBy(selector, change) : undefined;
    return type === undefined ? "" : `{"type":"${type}","object":${change.text}}\n`;
  };
  /** What changes while all objects are sent comes after them. */
  let held: string[] | undefined = [];
  const stop = log.follow((change) => {
    const line = lineOf(change);
    if (line === "") return;
    if (held === undefined) response.write(line);
    else held.push(line);
  });
  response.on("close", stop);

  if (from === undefined) {
    const snapshot = served.collection.snapshot(namespace);
    const all = selector?.generated(base);
    let chunk = "";
    for (const { text, generated } of snapshot.objects()) {
      const shown =
        selector === undefined || (generated && all !== undefined ? all : selector.matches(JSON.parse(text)));
      if (shown) chunk += `{"type":"ADDED","object":${text}}\n`;
      if (chunk.length < chunkLength) continue;
      await write(response, chunk);
      chunk = "";
      if (response.closed) return;
    }
    await write(response, chunk + bookmark(served, snapshot.resourceVersion, true));
  } else response.write(missed?.map(lineOf).join("") || "");
  for (const line of held) response.write(line);
  held = undefined;

  const bookmarks = setInterval(() => response.write(bookmark(served, cluster.version(), false)), bookmarkMs);
  const silent = () => {
    stop();
    clearInterval(bookmarks);
    clearTimeout(end);
  };
  // What is ended is not closed before the other side has read it, and it may be slow.
  const end = setTimeout(() => {
    silent();
    response.end();
  }, request.timeoutSeconds * 1000);
  response.on("close", silent);
}

function bookmark({ resource }: Served, resourceVersion: number, initial: boolean): string {
  const annotations = initial ? { "k8s.io/initial-events-end": "true" } : undefined;
  const metadata = { resourceVersion: String(resourceVersion), ...(annotations && { annotations }) };
  const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
  return `${JSON.stringify({ type: "BOOKMARK", object })}\n`;
}

/** Waits until the other side has taken most of it. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.closed) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.on("drain", go);
    response.on("close", go);
  });
}

import type { ApiClient } from "../../../lib/api-client.ts";

/** Counts of what a kube-apiserver has done, by its own metrics. */
export interface ServerCounts {
  /** "PATCH nodevolumeintents/status": requests that were answered, but for watches. */
  readonly requests: { readonly [what: string]: number };
  /** Answered with 429. */
  readonly refused: number;
  /** Executing at the moment, without watches. */
  readonly inFlight: number;
  /** Waiting in a queue of flow control. */
  readonly queued: number;
  /** Watches that are open. */
  readonly watches: number;
  /** Bytes of objects that live on its heap, before garbage is collected. */
  readonly heapBytes: number;
}

/** @throws Error if the server does not answer with metrics */
export async function serverCounts(admin: ApiClient): Promise<ServerCounts> {
  const { status, body } = await admin.call("GET", "/metrics");
  const text = body["text"];
  if (status !== 200 || typeof text !== "string") throw new Error(`GET /metrics: ${status}`);
  return countsIn(text);
}

const line = /^(\w+)(?:\{(.*)\})? ([^ ]+)$/;

/** PURE. Of the text of Prometheus. */
export function countsIn(text: string): ServerCounts {
  const requests: { [what: string]: number } = {};
  const sums = { refused: 0, inFlight: 0, queued: 0, watches: 0, heapBytes: 0 };
  for (const one of text.split("\n")) {
    if (!wanted.test(one)) continue;
    const [, metric = "", labels = "", value = "0"] = line.exec(one) ?? [];
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const number = Number(value);
    if (metric === "apiserver_request_total") {
      if (label("code") === "429") sums.refused += number;
      if (label("verb") === "WATCH") continue;
      const [resource, subresource] = [label("resource"), label("subresource")];
      const what = `${label("verb")} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
      requests[what] = (requests[what] ?? 0) + number;
    } else if (metric === "apiserver_current_inflight_requests") sums.inFlight += number;
    else if (metric === "apiserver_flowcontrol_current_inqueue_requests") sums.queued += number;
    else if (metric === "apiserver_longrunning_requests" && label("verb") === "WATCH") sums.watches += number;
    else if (metric === "go_memstats_heap_alloc_bytes") sums.heapBytes = number;
  }
  return { requests, ...sums };
}

const wanted =
  /^(?:apiserver_(?:request_total|current_inflight_requests|flowcontrol_current_inqueue_requests|longrunning_requests)\{|go_memstats_heap_alloc_bytes )/;

const verbs: { readonly [verb: string]: string } = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** PURE. "PATCH nodes/status" as "patch nodes/status": as the generator counts them. */
export function named(requests: ServerCounts["requests"]): ServerCounts["requests"] {
  return Object.fromEntries(
    Object.entries(requests).map(([what, count]) => {
      const [verb = "", of = ""] = what.split(" ");
      return [`${verbs[verb] ?? verb.toLowerCase()} ${of}`, count];
    }),
  );
}

// What the controller does with --index-intents, where none runs: each node's NodeVolumeState names its intents and
// their generations.
import { resource } from "../../../../src/api/names.ts";
import type { IndexedIntent, NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import { createKeyedQueue } from "../../../../src/kube/keyed-queue.ts";
import type { System } from "../../../../src/ports.ts";
import { type ApiClient, type JsonObject, mergePatch } from "../../../lib/api-client.ts";

export interface IndexWriter {
  /** Indices that were written. */
  writes(): number;
  /** Nodes whose index is to be written, or being written. */
  pending(): number;
  stop(): Promise<void>;
}

export interface IndexWriterDeps {
  readonly system: System;
  readonly client: ApiClient;
  readonly failed: (error: string) => void;
}

/** Indices that are written at a time. */
const concurrency = 16;
const watchPath = `${resourcePath(resource.intents)}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

/** Keeps the index of every node, from what it is at first, equal to its intents, by one watch of them all. */
export function startIndexWriter({ system, client, failed }: IndexWriterDeps): IndexWriter {
  const byNode = new Map<string, Map<string, IndexedIntent>>();
  const ended = new AbortController();
  let writes = 0;
  /** What it begins with is in the indices already. */
  let listed = false;
  const queue = createKeyedQueue({ system, name: "index", concurrency, run: write });

  async function write(node: string): Promise<undefined> {
    const path = resourcePath(resource.states, { name: node });
    const intents = [...(byNode.get(node)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    const answer = await client.call("PATCH", path, { body: { spec: { intents } }, contentType: mergePatch });
    writes += 1;
    if (answer.status === 200) return;
    failed(`${path}: ${answer.status} ${String(answer.body["message"])}`);
    throw new Error(`${path} was answered with ${answer.status}`);
  }

  function onEvent({ type, object }: JsonObject): void {
    if (type === "BOOKMARK") listed = true;
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return;
    const { metadata, spec } = object as NodeVolumeIntent;
    const { name, uid = "", generation = 0 } = metadata;
    const entries = byNode.get(spec.nodeName) ?? new Map<string, IndexedIntent>();
    byNode.set(spec.nodeName, entries);
    const before = entries.get(name);
    if (type === "DELETED") entries.delete(name);
    else if (before?.uid === uid && before.generation === generation)
      return; // a status
    else entries.set(name, { name, uid, generation });
    if (listed) queue.add(spec.nodeName);
  }

  async function follow(): Promise<void> {
    while (!ended.signal.aborted) {
      // The server is away: it is killed, too.
      await client.watch(watchPath, onEvent, ended.signal).catch(() => undefined);
      await new Promise<void>((resolve) => void system.timers.after(200, resolve));
    }
  }
  void follow();
  return {
    writes: () => writes,
    pending: () => queue.depth,
    async stop() {
      ended.abort();
      await queue.stop();
    },
  };
}

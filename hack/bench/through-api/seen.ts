// When a watch showed what: the clock of every figure "through API server and etcd".
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { ApiClient, JsonObject } from "../../lib/api-client.ts";

const path = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";

export interface Seen {
  /** When the watch first showed the intent Ready, by performance.now(). */
  readonly readyAt: ReadonlyMap<string, number>;
  /** When the watch showed it Released. */
  readonly releasedAt: ReadonlyMap<string, number>;
  /** How many times the watch brought another status of an intent. */
  readonly statusWrites: ReadonlyMap<string, number>;
  readonly present: ReadonlyMap<string, NodeVolumeIntent>;
  /** Resolves once the condition holds, which is asked after each event. @throws Error at the deadline */
  until(what: string, ms: number, holds: () => boolean): Promise<void>;
  /** Forgets all times and counts. */
  reset(): void;
}

/** Watches all intents from now on, until the signal aborts. */
export async function watchIntents(client: ApiClient, signal: AbortSignal): Promise<Seen> {
  const readyAt = new Map<string, number>();
  const releasedAt = new Map<string, number>();
  const statusWrites = new Map<string, number>();
  const present = new Map<string, NodeVolumeIntent>();
  const waiters = new Set<() => void>();
  let failure: unknown;

  function onEvent(event: JsonObject): void {
    const at = performance.now();
    if (event["type"] === "BOOKMARK") return;
    if (event["type"] === "ERROR") throw new Error(`watch: ${JSON.stringify(event["object"])}`);
    const intent = event["object"] as NodeVolumeIntent;
    const { name } = intent.metadata;
    version = intent.metadata.resourceVersion ?? version;
    const before = present.get(name);
    if (event["type"] === "DELETED") present.delete(name);
    else present.set(name, intent);
    if (JSON.stringify(before?.status) !== JSON.stringify(intent.status) && before !== undefined) {
      statusWrites.set(name, (statusWrites.get(name) ?? 0) + 1);
    }
    if (isReady(intent) && !readyAt.has(name)) readyAt.set(name, at);
    if (intent.status?.state === "Released" && !releasedAt.has(name)) releasedAt.set(name, at);
    for (const wake of [...waiters]) wake();
  }

  const list = await client.call("GET", path);
  let version = (list.body["metadata"] as { resourceVersion: string }).resourceVersion;
  // The server ends the watch of a client that is slow for a moment: it goes on from where it was.
  const follow = async () => {
    while (!signal.aborted) await client.watch(`${path}?watch=true&resourceVersion=${version}`, onEvent, signal);
  };
  follow().catch((error: unknown) => {
    failure = error;
    for (const wake of [...waiters]) wake();
  });
  return {
    readyAt,
    releasedAt,
    statusWrites,
    present,
    until: (what, ms, holds) =>
      new Promise((resolve, reject) => {
        const done = () => {
          clearTimeout(timer);
          waiters.delete(look);
        };
        const look = () => {
          if (failure === undefined && !holds()) return;
          done();
          if (failure === undefined) resolve();
          else reject(failure);
        };
        const timer = setTimeout(() => {
          done();
          reject(new Error(`waited ${ms / 1000} s for ${what}`));
        }, ms);
        waiters.add(look);
        look();
      }),
    reset() {
      for (const map of [readyAt, releasedAt, statusWrites]) map.clear();
    },
  };
}

function isReady({ metadata, status }: NodeVolumeIntent): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

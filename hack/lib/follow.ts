import { setTimeout as sleep } from "node:timers/promises";
import type { ApiClient, JsonObject } from "./api-client.ts";

export interface Followed {
  /** The objects by name, as the watch shows them now. */
  readonly objects: ReadonlyMap<string, JsonObject>;
}

/**
 * Keeps a list of cluster-scoped objects current until the signal aborts: list, watch, and again when the watch ends.
 * @param onChange after each change, and once after each list
 */
export async function follow(
  client: ApiClient,
  path: string,
  onChange: (followed: Followed) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await listAndWatch(client, path, onChange, signal);
    } catch {
      // The API server is away, or the list is too old to watch from: begin again.
      if (!signal.aborted) await sleep(200, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function listAndWatch(
  client: ApiClient,
  path: string,
  onChange: (followed: Followed) => void,
  signal: AbortSignal,
): Promise<void> {
  const list = await client.call("GET", path);
  if (list.status !== 200) throw new Error(`${path}: ${list.status}`);
  const objects = new Map<string, JsonObject>();
  for (const item of list.body["items"] as JsonObject[]) objects.set(nameOf(item), item);
  onChange({ objects });
  const version = (list.body["metadata"] as { resourceVersion: string }).resourceVersion;
  const onEvent = (event: JsonObject) => {
    const object = event["object"] as JsonObject;
    if (event["type"] === "DELETED") objects.delete(nameOf(object));
    else if (event["type"] === "ADDED" || event["type"] === "MODIFIED") objects.set(nameOf(object), object);
    else return;
    onChange({ objects });
  };
  await client.watch(`${path}?watch=true&resourceVersion=${version}`, onEvent, signal);
}

function nameOf(object: JsonObject): string {
  return (object["metadata"] as { name: string }).name;
}

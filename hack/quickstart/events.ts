import { setTimeout as sleep } from "node:timers/promises";
import { succeed } from "../lib/api-answer.ts";
import type { ApiClient } from "../lib/api-client.ts";
import { StepError } from "../lib/process.ts";

/** What is read of an Event of core/v1. */
export interface EventObject {
  readonly metadata: { readonly uid?: string; readonly resourceVersion?: string };
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** Milliseconds; an agent writes an Event after what is more urgent, at most five seconds later. */
const patience = 50_000;

/** Events with a reason about intents of a node: of cluster-scoped objects they are in the namespace default. */
export async function eventsOf(client: ApiClient, node: string, reason: string): Promise<EventObject[]> {
  const body = await succeed(client, "GET", `/api/v1/namespaces/default/events?fieldSelector=reason=${reason}`);
  const items = (body["items"] ?? []) as EventObject[];
  return items.filter(({ involvedObject }) => involvedObject.name.startsWith(`${node}.`));
}

/** PURE. The first of them that is new since `before`, or was told again. */
export function freshEvent(before: readonly EventObject[], now: readonly EventObject[]): EventObject | undefined {
  const known = new Set(before.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`));
  return now.find(({ metadata }) => !known.has(`${metadata.uid} ${metadata.resourceVersion}`));
}

/** Waits for one, and says it as `kubectl get events` would. @throws StepError if none comes */
export async function awaitEvent(
  client: ApiClient,
  node: string,
  reason: string,
  before: readonly EventObject[],
): Promise<string> {
  const deadline = performance.now() + patience;
  for (;;) {
    const event = freshEvent(before, await eventsOf(client, node, reason));
    if (event !== undefined) return `${event.type} ${event.reason} ${event.involvedObject.name}: ${event.message}`;
    if (performance.now() > deadline)
      throw new StepError(`no Event with the reason ${reason} came within ${patience / 1000} s`, {
        details: [],
        remedy: "read the log of the agent: it says what the API server answers",
      });
    await sleep(100);
  }
}

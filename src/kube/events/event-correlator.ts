import { type Left, leftOf, type Rate } from "../rate.ts";

/** What an event says, and of which object. */
export interface EventInput {
  readonly object: EventObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The object that an Event is about. */
export interface EventObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

/** What becomes of an event. `key` stands for all that are counted as one. */
export type Correlation =
  | { readonly action: "write"; readonly key: string; readonly message: string; readonly count: number }
  | { readonly action: "drop" };

/** Aggregates, counts and limits Events, as client-go's EventCorrelator does. */
export interface EventCorrelator {
  /** @param now milliseconds, growing */
  correlate(event: EventInput, now: number): Correlation;
  /** Name of the Event that was created for a key. */
  nameOf(key: string): string | undefined;
  created(key: string, name: string): void;
}

/**
 * The rules of client-go's EventCorrelator, with its numbers: (1) the tenth distinct message of one kind within ten
 * minutes, and those after it, are combined into one Event; (2) what is the same again only raises the count of the
 * Event that there is; (3) each object has 25 Events, and then one more every five minutes.
 */
const distinctMessages = 10;
const aggregateMs = 600_000;
const perObject: Rate = { most: 25, refillMs: 300_000 };
/** As client-go: the newest keys are remembered. */
const remembered = 4096;

/** A correlator that has seen no Event yet. */
export function createEventCorrelator(): EventCorrelator {
  const groups = new Map<string, { messages: Set<string>; lastSeen: number }>();
  const counts = new Map<string, { count: number; name: string | undefined }>();
  const buckets = new Map<string, Left>();

  /** Rule 1: the key and message that the event goes by. */
  function aggregate(event: EventInput, group: string, now: number): { key: string; message: string } {
    const known = groups.get(group);
    const fresh = known === undefined || now - known.lastSeen > aggregateMs;
    const messages = fresh ? new Set<string>() : known.messages;
    messages.add(event.message);
    remember(groups, group, { messages, lastSeen: now });
    if (messages.size < distinctMessages) return { key: `${group}\n${event.message}`, message: event.message };
    const [oldest] = messages;
    if (oldest !== undefined) messages.delete(oldest);
    return { key: group, message: `(combined from similar events): ${event.message}` };
  }

  /** Rule 3. */
  function takeToken(object: string, now: number): boolean {
    const left = leftOf(buckets.get(object), perObject, now);
    remember(buckets, object, { left: left < 1 ? left : left - 1, at: now });
    return left >= 1;
  }

  return {
    correlate(event, now) {
      const { apiVersion, kind, namespace = "", name, uid = "" } = event.object;
      const object = [apiVersion, kind, namespace, name, uid].join("/");
      const { key, message } = aggregate(event, `${object}\n${event.type}\n${event.reason}`, now);
      // Rule 2. It counts what rule 3 drops, too, so that the count is true once an Event is written again.
      const before = counts.get(key);
      const count = (before?.count ?? 0) + 1;
      remember(counts, key, { count, name: before?.name });
      if (!takeToken(object, now)) return { action: "drop" };
      return { action: "write", key, message, count };
    },
    nameOf: (key) => counts.get(key)?.name,
    created(key, name) {
      const known = counts.get(key);
      if (known !== undefined) counts.set(key, { ...known, name });
    },
  };
}

/** Sets the newest entry and forgets the oldest beyond the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= remembered) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import type { KubeClient, ListOptions, ObjectRef, ReadOptions } from "./client.ts";

/** Under way, and the one that begins when that has ended. */
interface Flights {
  readonly running: Promise<unknown>;
  next?: Promise<unknown>;
}

/**
 * A client that coalesces concurrent reads. A caller is never answered by a request that was sent before its call:
 * calls during a request wait for the next one, together. So a result is as fresh as that of a request of its own.
 * Results are shared and must not be changed.
 */
export function joinReads(client: KubeClient): KubeClient {
  const flights = new Map<string, Flights>();

  function begin(key: string, read: () => Promise<unknown>): Promise<unknown> {
    const running = read();
    const mine: Flights = { running };
    flights.set(key, mine);
    const landed = () => {
      if (flights.get(key) === mine && mine.next === undefined) flights.delete(key);
    };
    running.then(landed, landed);
    return running;
  }

  function join<T>(key: string, read: () => Promise<T>): Promise<T> {
    const flight = flights.get(key);
    if (flight === undefined) return begin(key, read) as Promise<T>;
    const onward = () => begin(key, read);
    flight.next ??= flight.running.then(onward, onward);
    return flight.next as Promise<T>;
  }

  return {
    ...client,
    get<T extends KubeObject>(of: Resource, ref: ObjectRef, options: ReadOptions = {}): Promise<T | undefined> {
      const key = JSON.stringify(["get", of.group, of.plural, ref.namespace, ref.name, options.asUser]);
      return join(key, () => client.get<T>(of, ref, options));
    },
    list<T extends KubeObject, P = T>(of: Resource, options: ListOptions = {}, project?: (object: T) => P) {
      // Those who keep different things of a list have no answer in common.
      if (project !== undefined) return client.list<T, P>(of, options, project);
      const { namespace, labelSelector, fieldSelector } = options;
      const key = JSON.stringify(["list", of.group, of.plural, namespace, labelSelector, fieldSelector]);
      return join(key, () => client.list<T, P>(of, options));
    },
  };
}

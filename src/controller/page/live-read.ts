import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { joinReads } from "../../kube/client/joined-reads.ts";
import type { Timers } from "../../ports.ts";

/** What a read came to. */
interface LiveRead<T> {
  readonly object: T | undefined;
  /** Why there is no answer. */
  readonly notRead: string | undefined;
}

/** Reads one object that the caches know of, with what they do not keep. */
export type ReadLive = <T extends KubeObject>(resource: Resource, name: string) => Promise<LiveRead<T>>;

/** Whoever looks shall see what is known soon, also while the API server is away. */
const patienceMs = 3_000;
/** Of all who look together: the API server has others to serve. */
const atOnce = 4;

/** Reads single objects for the page from the API server, with a limit of requests at once. */
export function createLiveRead(timers: Timers, client: KubeClient): ReadLive {
  const joined = joinReads(client);
  let underWay = 0;

  return async <T extends KubeObject>(resource: Resource, name: string) => {
    if (underWay >= atOnce) return { object: undefined, notRead: "too many requests at once" };
    underWay += 1;
    const late = Promise.withResolvers<LiveRead<T>>();
    const cancel = timers.after(patienceMs, () =>
      late.resolve({ object: undefined, notRead: "the API server does not answer" }),
    );
    const read = joined.get<T>(resource, { name }).then(
      (object): LiveRead<T> => ({ object, notRead: undefined }),
      (error: unknown): LiveRead<T> => ({ object: undefined, notRead: messageOf(error) }),
    );
    void read.then(() => {
      underWay -= 1;
    });
    return Promise.race([read, late.promise]).finally(cancel);
  };
}

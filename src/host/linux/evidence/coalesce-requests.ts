/** What a look found for one question; an error is for that one alone. */
export type Found<A> = { readonly answer: A } | { readonly error: Error };

/**
 * PURE. Coalesces requests (singleflight): a request that comes during a read waits for the next one, because the state
 * may have changed since that read began. A thousand concurrent requests cost two reads, and no reply is older than its
 * request.
 */
export function coalesceRequests<Q, A>(
  look: (questions: readonly Q[]) => Promise<readonly Found<A>[]>,
): (question: Q) => Promise<A> {
  interface Asked {
    readonly question: Q;
    resolve(answer: A): void;
    reject(error: unknown): void;
  }
  let waiting: Asked[] = [];
  let looking = false;

  async function lookForAll(): Promise<void> {
    looking = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      try {
        const found = await look(asked.map(({ question }) => question));
        asked.forEach(({ resolve, reject }, index) => {
          const its = found[index];
          if (its === undefined) reject(new Error("a look has left a question without an answer"));
          else if ("error" in its) reject(its.error);
          else resolve(its.answer);
        });
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    looking = false;
  }

  return (question) => {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    waiting.push({ question, resolve, reject });
    if (!looking) void lookForAll();
    return promise;
  };
}

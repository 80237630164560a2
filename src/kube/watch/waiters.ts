/** Those who wait for the next time that something happens. */
export interface Waiters {
  wait(): Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Promises for those who wait for the next time that something happens. Nobody waits: nothing is rejected. */
export function createWaiters(): Waiters {
  let waiting = next();
  let any = false;

  /** Nobody waits for what nobody asked for: it would be a rejection that nobody handles. */
  function settle(tell: (all: Waiting) => void): void {
    if (!any) return;
    const all = waiting;
    waiting = next();
    any = false;
    tell(all);
  }

  return {
    wait() {
      any = true;
      return waiting.promise;
    },
    resolve: () => settle((all) => all.resolve()),
    reject: (error) => settle((all) => all.reject(error)),
  };
}

/** Promise.withResolvers came with Node 22, and people's machines run this, too. */
function next(): Waiting {
  let settlers: Omit<Waiting, "promise"> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settlers = { resolve, reject };
  });
  if (settlers === undefined) throw new Error("a promise has called nobody");
  return { promise, ...settlers };
}

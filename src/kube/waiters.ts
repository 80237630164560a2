/** Those who wait for the next time that something happens. */
export interface Waiters {
  wait(): Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

export function createWaiters(): Waiters {
  let waiting = Promise.withResolvers<void>();
  let any = false;

  /** Nobody waits for what nobody asked for: it would be a rejection that nobody handles. */
  function settle(tell: (all: typeof waiting) => void): void {
    if (!any) return;
    const all = waiting;
    waiting = Promise.withResolvers<void>();
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
